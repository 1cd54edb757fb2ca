package explore

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Parameters are a fault as files have it: ledgers, and the JSON of what a search found.
// Which of them it has depends on its kind.
type Parameters struct {
	// Kind is the name of the kind of fault; see [sim.FaultKinds].
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
	Before trace.StepPoint `json:"before,omitzero"`
	When   trace.Point     `json:"when,omitzero"`
	// For is how long it lasts; 0 is for good, or no time at all.
	For time.Duration `json:"for,omitempty"`
	// Persistence is what the node that crashes writes to its disk; "" is the base's.
	Persistence sim.Persistence `json:"persistence,omitempty"`
}

// Parameters are the fault's. A fault of a kind that no search tries has only those that
// it shares with all.
func (f Fault) Parameters() Parameters {
	p := Parameters{
		Kind: f.kind(), Target: f.target(), Others: f.others(),
		Before: f.Strikes.Before, When: f.Strikes.When, For: f.For, Persistence: f.Persistence,
	}
	switch a := f.Action.(type) {
	case *sim.Pause:
		p.How = string(a.Mode)
	case *sim.CrashFault:
		p.How = string(a.How)
	case *sim.Jump:
		p.By = a.By
	case *sim.Delay:
		p.By = a.By
	case *sim.Hold:
		p.Target = a.Message.String()
	case *sim.Stall:
		p.Step = a.Step
	}
	return p
}

// Fault is the fault with the parameters. The error says why there is none.
func (p Parameters) Fault() (Fault, error) {
	f := Fault{
		Fault:       sim.Fault{Strikes: sim.Trigger{Before: p.Before, When: p.When}, For: p.For},
		Persistence: p.Persistence,
	}
	if (p.Kind == "reset" || p.Kind == "delay") && len(p.Others) == 0 {
		return f, fmt.Errorf("a %s has somebody at its other end, and others is empty", p.Kind)
	}
	switch p.Kind {
	case "pause":
		f.Action = &sim.Pause{Process: p.Target, Mode: trace.PauseMode(p.How)}
	case "crash":
		f.Action = &sim.CrashFault{Process: p.Target, How: trace.Crash(p.How)}
	case "jump":
		f.Action = &sim.Jump{Process: p.Target, By: p.By}
	case "partition":
		f.Action = &sim.Partition{Process: p.Target, From: p.Others}
	case "delay":
		f.Action = &sim.Delay{Process: p.Target, To: p.Others[0], By: p.By}
	case "reset":
		f.Action = &sim.Reset{Process: p.Target, From: p.Others[0]}
	case "hold":
		m, err := trace.ParseNthMessage(p.Target)
		if err != nil {
			return f, err
		}
		f.Action = &sim.Hold{Message: m}
	case "stall":
		f.Action = &sim.Stall{Client: p.Target, Step: p.Step}
	case "fail":
		f.Action = &sim.Fail{Node: p.Target}
	default:
		return f, fmt.Errorf("the kind of fault %q is not known to a search: a later version may have written it", p.Kind)
	}
	return f, nil
}

// MarshalJSON writes the fault's parameters.
func (f Fault) MarshalJSON() ([]byte, error) { return json.Marshal(f.Parameters()) }

// UnmarshalJSON reads a fault's parameters, and none that it does not know.
func (f *Fault) UnmarshalJSON(text []byte) error {
	var p Parameters
	if err := strictly(text, &p); err != nil {
		return err
	}
	var err error
	*f, err = p.Fault()
	return err
}
