package history

import (
	"slices"

	"github.com/locksim/locksim/trace"
)

// An Act is one period during which a fault acts: it strikes, and may later be lifted. A fault
// can act several times.
type Act struct {
	// Fault is the fault's number, from 1.
	Fault int
	// Struck is the event with which the act began, and Lifted the event with which it
	// ended. Lifted is nil if the act has not ended, or if it has no duration.
	Struck, Lifted *trace.Event
	// Stalled is the event with which the fault stopped a request in the storage until the fault
	// was lifted; nil if it stopped none.
	Stalled *trace.Event
	// Instant says that the act has no duration. HasEnd says that the fault is meant to end, even
	// if the run ended before.
	Instant, HasEnd bool
}

// isUnfinished reports whether the act was meant to end and has not ended.
func (a *Act) isUnfinished() bool { return a.HasEnd && a.Lifted == nil }

// Faults is a reader that follows, event by event, which faults act. There are three
// different questions about calm:
//
//   - [Faults.QuietSince]: does no fault act now?
//   - [History.LastFault]: does no fault strike or end any more? That needs hindsight.
//   - [History.CanServe]: can the lock serve a client, although some faults still act?
type Faults struct {
	acts []*Act
	// acting maps each fault that acts now to the index of its act.
	acting map[int]int
	last   *trace.Event
}

// NewFaults returns a reader that has seen no event.
func NewFaults() *Faults { return &Faults{acting: map[int]int{}} }

// See processes the next event.
func (f *Faults) See(ev *trace.Event) {
	switch ev.Kind {
	case trace.KindStrike:
		f.last = ev
		f.acts = append(f.acts, &Act{Fault: ev.Fault, Struck: ev, Instant: ev.Instant, HasEnd: ev.HasEnd})
		if delete(f.acting, ev.Fault); !ev.Instant {
			f.acting[ev.Fault] = len(f.acts) - 1
		}
	case trace.KindLift:
		f.last = ev
		if i, isActing := f.acting[ev.Fault]; isActing {
			f.acts[i].Lifted = ev
			delete(f.acting, ev.Fault)
		}
	case trace.KindStall:
		if i, isActing := f.acting[ev.Fault]; isActing {
			f.acts[i].Stalled = ev
		}
	}
}

// QuietSince returns the moment since which no fault has acted; quiet is false if a fault
// acts now. A run without faults is quiet from its start.
func (f *Faults) QuietSince() (since Moment, quiet bool) {
	switch {
	case len(f.acting) > 0:
		return Never, false
	case f.last == nil:
		return StartOf(0), true
	}
	return MomentOf(f.last), true
}

// seeFault processes the strike or the end of a fault.
func (h *History) seeFault(ev *trace.Event) {
	moment := MomentOf(ev)
	h.faults.See(ev)
	if last := &h.quiet[len(h.quiet)-1]; moment.Before(last.To) {
		last.To = moment
	}
	if since, quiet := h.faults.QuietSince(); quiet {
		h.quiet = append(h.quiet, Interval{since, Never})
	}
}

// QuietTimes returns the intervals in which no fault acted, in order. A fault without a
// duration ends one interval and begins the next.
func (h *History) QuietTimes() []Interval { return h.quiet }

// QuietSince returns the beginning of the quiet interval that contains m; quiet is false if
// a fault acted at m. A fault that strikes at m itself acts then, and a fault that ends at
// m does not.
func (h *History) QuietSince(m Moment) (since Moment, quiet bool) {
	for _, q := range slices.Backward(h.quiet) {
		if !m.Before(q.From) {
			return q.From, m.Before(q.To)
		}
	}
	return Never, false
}

// Acts returns all acts of faults, in the order in which they struck.
func (h *History) Acts() []*Act { return h.faults.acts }

// Unfinished returns the numbers of the faults that were meant to end and had not ended
// when the run did, in the order in which they struck.
func (h *History) Unfinished() []int {
	var all []int
	for _, a := range h.faults.acts {
		all = slices.DeleteFunc(all, func(fault int) bool { return fault == a.Fault })
		if a.isUnfinished() {
			all = append(all, a.Fault)
		}
	}
	return all
}

// Act returns the first act of the fault with this number; nil if it never acted.
func (h *History) Act(fault int) *Act {
	for _, a := range h.faults.acts {
		if a.Fault == fault {
			return a
		}
	}
	return nil
}

// LastFault returns the last event with which a fault struck or ended; nil if there was
// none.
func (h *History) LastFault() *trace.Event { return h.faults.last }

// LastFaultUntil returns the last strike or end of a fault whose Seq is at most seq; nil if
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

// Fault returns the trace's description of the fault with this number; zero if there is no
// such fault.
func (h *History) Fault(number int) trace.FaultInfo {
	if number < 1 || number > len(h.Trace.Faults) {
		return trace.FaultInfo{}
	}
	return h.Trace.Faults[number-1]
}

// ClientOf returns the client that the fault with this number concerns: the client that it
// strikes, or the client or service whose message it strikes; "" if there is none.
func (h *History) ClientOf(fault int) string {
	f := h.Fault(fault)
	if target := f.Target(); h.IsClient(target) {
		return target
	}
	return f.Message.Client
}
