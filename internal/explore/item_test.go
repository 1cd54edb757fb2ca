package explore

import (
	"time"

	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// An item is a fault in the notation of these tests: points are written as text.
type item struct {
	Kind, Target string
	Others       []string
	How          string
	Step         trace.Step
	By           time.Duration
	Rate         sim.Rate
	Before, When string
	For          time.Duration
}

// fault returns the fault that the item describes. An item without a kind gives a fault
// that has only a trigger.
func (i item) fault() runs.Fault {
	if i.Kind == "" {
		return runs.Fault{Fault: sim.Fault{Strikes: trace.Trigger{Before: step(i.Before), When: point(i.When)}}}
	}
	f, err := runs.Parameters{
		Parts:  sim.Parts{Kind: i.Kind, Target: i.Target, Others: i.Others, How: i.How, Step: i.Step, By: i.By, Rate: i.Rate},
		Before: step(i.Before), When: point(i.When), For: i.For,
	}.Fault()
	if err != nil {
		panic(err)
	}
	return f
}

// diskChange returns the change that gives a node a persistence.
func diskChange(node string, disk sim.Persistence) scenarios.Change {
	return scenarios.Change{Persistence: map[string]sim.Persistence{node: disk}}
}

// point and step parse the notation of scenarios. An empty text gives the zero value.
func point(text string) (p trace.Point) {
	if err := p.UnmarshalText([]byte(text)); err != nil {
		panic(err)
	}
	return p
}

func step(text string) (p trace.StepPoint) {
	if err := p.UnmarshalText([]byte(text)); err != nil {
		panic(err)
	}
	return p
}
