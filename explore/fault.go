package explore

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A Fault is one fault of a world, with its parameters under the names that they
// have in a scenario file. Which of them it has depends on its kind; see
// [sim.FaultKinds].
type Fault struct {
	// Kind is the kind of fault, such as pause.
	Kind string `json:"kind"`
	// Target is what it acts on: a process, or the message that is held.
	Target string `json:"target"`
	// Others are the processes at the other end, of a partition, a reset or a delay.
	Others []string `json:"others,omitempty"`
	// How is how a process crashes or is paused; "" is the kind's default.
	How string `json:"how,omitempty"`
	// Step is the request at which a stalled thread stands still.
	Step trace.Step `json:"step,omitempty"`
	// By is how far a clock jumps, or how much longer a message takes.
	By time.Duration `json:"by,omitempty"`
	// Before and When say when it strikes: before a client's step, or at a point. A
	// fault with neither strikes at the start of the run.
	Before string `json:"before,omitempty"`
	When   string `json:"when,omitempty"`
	// For is how long it lasts; 0 is for good, or no time at all.
	For time.Duration `json:"for,omitempty"`
	// Persistence is what the node that crashes writes to its disk; "" is the base's.
	Persistence sim.Persistence `json:"persistence,omitempty"`
}

// Fields are the fault as an item of a scenario's list of faults.
func (f Fault) Fields() scenarios.Fields {
	var fields scenarios.Fields
	add := func(name string, value any) { fields = append(fields, scenarios.Field{Name: name, Value: value}) }
	switch {
	case f.Before != "":
		add("before", f.Before)
	case f.When != "":
		add("when", f.When)
	}
	add(f.Kind, f.Target)
	switch f.Kind {
	case "partition":
		add("from", f.Others)
	case "reset":
		add("from", f.Others[0])
	case "delay":
		add("to", f.Others[0])
	case "crash":
		if f.How != "" {
			add("how", f.How)
		}
	case "pause":
		if f.How != "" {
			add("mode", f.How)
		}
	}
	if f.Step != "" {
		add("step", string(f.Step))
	}
	if f.By != 0 {
		add("by", tellDuration(f.By))
	}
	if f.For != 0 {
		add("for", tellDuration(f.For))
	}
	return fields
}

// tellDuration writes a duration without units that are zero: 31s, 1m, 29.88s.
func tellDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// String is the fault in one line, as a scenario would have it.
func (f Fault) String() string {
	s := f.Fields().String()
	if f.Persistence != "" {
		s += fmt.Sprintf(" with persistence %s", f.Persistence)
	}
	return s
}

// Size is how large the fault is: how long it lasts, or how far a clock jumps;
// 0 is a fault without a size.
func (f Fault) Size() time.Duration {
	if f.Kind == "jump" {
		return f.By.Abs()
	}
	return f.For
}

// Sized is the fault with another size.
func (f Fault) Sized(size time.Duration) Fault {
	switch {
	case f.Kind == "jump" && f.By < 0:
		f.By = -size
	case f.Kind == "jump":
		f.By = size
	case f.Kind == "delay":
		f.By, f.For = size, size
	default:
		f.For = size
	}
	return f
}

// Equal says whether two faults are the same.
func (f Fault) Equal(o Fault) bool {
	return slices.Equal(f.Others, o.Others) && f.Kind == o.Kind && f.Target == o.Target && f.How == o.How && f.Step == o.Step &&
		f.By == o.By && f.Before == o.Before && f.When == o.When && f.For == o.For && f.Persistence == o.Persistence
}
