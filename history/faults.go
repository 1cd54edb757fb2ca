package history

import (
	"slices"

	"github.com/locksim/locksim/trace"
)

// An Act is one time that a fault acted.
type Act struct {
	// Fault is the fault's number, from 1.
	Fault int
	// Struck is the event with which it began, Lifted that with which it ended; nil for
	// one that has not, or that was over once it had struck.
	Struck, Lifted *trace.Event
	// Stalled is the event with which it had a request stand still in the storage, until it
	// was lifted; nil if it did not.
	Stalled *trace.Event
	// Instant: it had no duration. Ends: it was meant to end.
	Instant, Ends bool
}

// unfinished says that the fault was meant to end and has not.
func (a *Act) unfinished() bool { return a.Ends && a.Lifted == nil }

// Faults is a reader: it follows which faults act. "Is everything calm?" has three
// meanings, which it keeps apart: nothing acts now ([Faults.Quiet]), nothing strikes or
// ends any more ([History.LastFault], which needs hindsight), and nothing that still acts
// keeps from a client what the lock needs ([History.Provided]).
type Faults struct {
	acts []*Act
	// acting has, for each fault, the number of its act that goes on.
	acting map[int]int
	last   *trace.Event
}

// NewFaults returns a reader that has seen nothing.
func NewFaults() *Faults { return &Faults{acting: map[int]int{}} }

// See takes in the next event.
func (f *Faults) See(ev *trace.Event) {
	switch ev.Kind {
	case trace.KindStrike:
		f.last = ev
		f.acts = append(f.acts, &Act{Fault: ev.Fault, Struck: ev, Instant: ev.Instant, Ends: ev.Lifts})
		if delete(f.acting, ev.Fault); !ev.Instant {
			f.acting[ev.Fault] = len(f.acts) - 1
		}
	case trace.KindLift:
		f.last = ev
		if i, acts := f.acting[ev.Fault]; acts {
			f.acts[i].Lifted = ev
			delete(f.acting, ev.Fault)
		}
	case trace.KindStall:
		if i, acts := f.acting[ev.Fault]; acts {
			f.acts[i].Stalled = ev
		}
	}
}

// Quiet says since when no fault acts; never is that some fault does. A run that no fault
// has touched is quiet from its start.
func (f *Faults) Quiet() (since Moment, ever bool) {
	switch {
	case len(f.acting) > 0:
		return Never, false
	case f.last == nil:
		return StartOf(0), true
	}
	return MomentOf(f.last), true
}

// seeFault takes in that a fault strikes or ends.
func (h *History) seeFault(ev *trace.Event) {
	at := MomentOf(ev)
	h.faults.See(ev)
	if last := &h.quiet[len(h.quiet)-1]; at.Before(last.To) {
		last.To = at
	}
	if since, ever := h.faults.Quiet(); ever {
		h.quiet = append(h.quiet, Interval{since, Never})
	}
}

// QuietTimes are the times in which no fault acted, in order. A fault that is over once it
// has struck ends one and begins the next.
func (h *History) QuietTimes() []Interval { return h.quiet }

// Quiet says since when no fault acted at a moment; never is that some fault did. What
// strikes at that very moment acts, what ends has ended.
func (h *History) Quiet(m Moment) (since Moment, ever bool) {
	for _, q := range slices.Backward(h.quiet) {
		if !m.Before(q.From) {
			return q.From, m.Before(q.To)
		}
	}
	return Never, false
}

// Acts are the times that faults acted, in the order in which they struck.
func (h *History) Acts() []*Act { return h.faults.acts }

// Unfinished are the faults that were to end and had not when the run was over, in the
// order in which they struck.
func (h *History) Unfinished() []int {
	var all []int
	for _, a := range h.faults.acts {
		all = slices.DeleteFunc(all, func(fault int) bool { return fault == a.Fault })
		if a.unfinished() {
			all = append(all, a.Fault)
		}
	}
	return all
}

// Act is the first time that a fault acted, by its number; nil if it never did.
func (h *History) Act(fault int) *Act {
	for _, a := range h.faults.acts {
		if a.Fault == fault {
			return a
		}
	}
	return nil
}

// LastFault is the last event with which a fault struck or ended; nil if there was none.
func (h *History) LastFault() *trace.Event { return h.faults.last }

// LastFaultUntil is the last event up to a Seq with which a fault struck or ended; nil if
// there was none.
func (h *History) LastFaultUntil(seq int) *trace.Event {
	var last *trace.Event
	for _, a := range h.faults.acts {
		for _, ev := range []*trace.Event{a.Struck, a.Lifted} {
			if ev != nil && ev.Seq <= seq && (last == nil || last.Seq < ev.Seq) {
				last = ev
			}
		}
	}
	return last
}

// Fault is what is known of a fault before the run, by its number; zero for one that is not
// known.
func (h *History) Fault(number int) trace.FaultInfo {
	if number < 1 || number > len(h.Trace.Faults) {
		return trace.FaultInfo{}
	}
	return h.Trace.Faults[number-1]
}

// ClientOf is the client that a fault is about, by its number: the one that it strikes, or
// the client or service whose message; "" if it is about none.
func (h *History) ClientOf(fault int) string {
	f := h.Fault(fault)
	if on := f.Target(); h.IsClient(on) {
		return on
	}
	return f.Message.Client
}
