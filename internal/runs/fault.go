package runs

import (
	"reflect"
	"time"

	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A Fault is one fault of a world. In JSON it is written as its [Parameters].
type Fault struct{ sim.Fault }

// NewFault returns a fault that lasts for length, or forever if length is 0. It strikes at
// the start of the run.
func NewFault(action sim.Action, length time.Duration) Fault {
	return Fault{Fault: sim.Fault{Action: action, For: length}}
}

// SimFault returns the fault for package sim, with the text that describes it.
func (f Fault) SimFault() sim.Fault {
	f.Text = scenarios.FaultText(f.Fault)
	return f.Fault
}

// String returns the fault in one line, as a scenario contains it.
func (f Fault) String() string {
	return scenarios.FaultFields(f.Fault).String()
}

// WithSize returns the fault with another size.
func (f Fault) WithSize(size sim.Size) Fault {
	f.Fault = f.Fault.WithSize(size)
	return f
}

// WithOthers returns the fault with other processes at its other end, for example beyond a
// partition.
func (f Fault) WithOthers(others []string) Fault {
	f.Fault = f.Fault.WithOthers(others)
	return f
}

// WithTrigger returns the fault with another trigger, which says when the fault strikes.
func (f Fault) WithTrigger(strikes trace.Trigger) Fault {
	f.Strikes = strikes
	return f
}

// Equal reports whether two faults are the same.
func (f Fault) Equal(o Fault) bool { return reflect.DeepEqual(f, o) }

// WithMessage returns the fault with another message: the one that it holds back.
func (f Fault) WithMessage(m trace.NthMessage) Fault {
	f.Fault = f.Fault.WithMessage(m)
	return f
}
