package explore

import (
	"reflect"
	"slices"
	"time"

	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// A Fault is one fault of a world, and what the node on which it acts writes to its
// disk: without that one cannot tell what a crash makes it forget.
type Fault struct {
	sim.Fault
	// Persistence is what the node that crashes writes to its disk; "" is the base's.
	Persistence sim.Persistence
}

// fault is one that lasts for some time, or for good; it strikes at the start.
func fault(does sim.Action, lasts time.Duration) Fault {
	return Fault{Fault: sim.Fault{Action: does, For: lasts}}
}

// kind is the name of the kind of fault, such as pause.
func (f Fault) kind() string {
	k, _ := sim.KindOf(f.Action)
	return k.Name
}

// target is the process that the fault strikes; "" for a message that is held.
func (f Fault) target() string {
	if _, message := f.Action.(*sim.Hold); message {
		return ""
	}
	return f.Targets()[0][0]
}

// others are the processes at the other end, of a partition, a reset or a delay.
func (f Fault) others() []string {
	if _, message := f.Action.(*sim.Hold); message {
		return nil
	}
	return slices.Concat(f.Targets()[1:]...)
}

// sim is the fault as a world of package sim has it.
func (f Fault) sim() sim.Fault {
	f.Text = scenarios.FaultText(f.Fault)
	return f.Fault
}

// String is the fault in one line, as a scenario would have it.
func (f Fault) String() string {
	s := scenarios.FaultFields(f.Fault).String()
	if f.Persistence != "" {
		s += " with persistence " + string(f.Persistence)
	}
	return s
}

// Size is how large the fault is: how long it lasts, or how far a clock jumps;
// 0 is a fault without a size.
func (f Fault) Size() time.Duration {
	if jump, ok := f.Action.(*sim.Jump); ok {
		return jump.By.Abs()
	}
	return f.For
}

// Sized is the fault with another size.
func (f Fault) Sized(size time.Duration) Fault {
	switch a := f.Action.(type) {
	case *sim.Jump:
		if a.By < 0 {
			size = -size
		}
		f.Action = &sim.Jump{Process: a.Process, By: size}
	case *sim.Delay:
		slower := *a
		slower.By = size
		f.Action, f.For = &slower, size
	default:
		f.For = size
	}
	return f
}

// at is the fault with another moment to strike.
func (f Fault) at(strikes sim.Trigger) Fault {
	f.Strikes = strikes
	return f
}

// does is the fault with another action.
func (f Fault) does(a sim.Action) Fault {
	f.Action = a
	return f
}

// Equal says whether two faults are the same.
func (f Fault) Equal(o Fault) bool { return reflect.DeepEqual(f, o) }

// sameMoment says whether two triggers are the same.
func sameMoment(a, b sim.Trigger) bool {
	return a.At == b.At && a.Before == b.Before && a.When.Equal(b.When)
}

// atStart says that a fault with the trigger strikes at the start of the run.
func atStart(t sim.Trigger) bool { return sameMoment(t, sim.Trigger{}) }
