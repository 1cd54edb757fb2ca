package runs

import (
	"reflect"
	"time"

	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A Fault is one fault of a world. As JSON it has its [Parameters].
type Fault struct{ sim.Fault }

// NewFault is one that lasts for some time, or for good; it strikes at the start.
func NewFault(does sim.Action, lasts time.Duration) Fault {
	return Fault{Fault: sim.Fault{Action: does, For: lasts}}
}

// Sim is the fault as a world of package sim has it.
func (f Fault) Sim() sim.Fault {
	f.Text = scenarios.FaultText(f.Fault)
	return f.Fault
}

// String is the fault in one line, as a scenario would have it.
func (f Fault) String() string {
	return scenarios.FaultFields(f.Fault).String()
}

// Sized is the fault with another size.
func (f Fault) Sized(size sim.Size) Fault {
	f.Fault = f.Fault.Sized(size)
	return f
}

// Among is the fault with other processes at the other end.
func (f Fault) Among(others []string) Fault {
	f.Fault = f.Fault.Among(others)
	return f
}

// At is the fault with another moment to strike.
func (f Fault) At(strikes trace.Trigger) Fault {
	f.Strikes = strikes
	return f
}

// Equal says whether two faults are the same.
func (f Fault) Equal(o Fault) bool { return reflect.DeepEqual(f, o) }

// WithMessage is the fault with another message that it waits for.
func (f Fault) WithMessage(m trace.NthMessage) Fault {
	f.Fault = f.Fault.On(m)
	return f
}
