package checks

import (
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// What a lock does that no caller can live with, whatever becomes of the data. A property of
// misconduct is in a verdict only if it is violated, and always by the lock itself: that nothing
// of the kind was seen in a run does not prove that the lock behaves.

// misconduct is a property that a lock violates by what it does. find returns what breaks it
// first, and the events that show it; a zero reason is that nothing does.
func misconduct(c Card, find func(*inquiry) (Reason, []int)) property {
	c.Of = OfMisconduct
	return property{Card: c, judge: func(h *inquiry) Finding {
		reason, events := find(h)
		return guilty(reason, events)
	}}
}

// guilty is the finding of a violation by the lock; it holds if there is no reason.
func guilty(reason Reason, events []int) Finding {
	if reason.IsZero() {
		return holds()
	}
	slices.Sort(events)
	f := Finding{Outcome: Violated, Reason: reason, Events: events, Fault: FaultLock}
	if len(events) > 0 {
		f.At = events[len(events)-1]
	}
	return f
}

// nothing is what a rule finds in a run that keeps it.
func nothing(*inquiry) (Reason, []int) { return Reason{}, nil }

// ended is how a client's code ended the run, if that is what a property forbids.
func (h *inquiry) ended(p Property) Finding {
	if e := h.Trace.Ending; e != nil && Property(e.Rule) == p {
		return guilty(endedRun.Reason(e.Why), nil)
	}
	return holds()
}

// complained is what a client's program says against its lock, if that is what a property
// forbids. A rule that is no property is one of the program's own.
func (h *inquiry) complained(p Property) Finding {
	for _, c := range h.Trace.Complaints {
		rule := Property(c.Rule)
		switch {
		case c.Rule == trace.CannotMake:
			rule = CannotBeMade
		case rule.Title() == "":
			rule = Conformance
		}
		if rule == p {
			f := guilty(complaint.Reason(c.Client, c.Why), h.lastAsked(c.Client))
			f.Firm = true
			return f
		}
	}
	return holds()
}

// lastAsked is a client's last call of acquire or extend, and the ends of that and of
// what the lock has prolonged by itself since.
func (h *inquiry) lastAsked(client string) (at []int) {
	for _, c := range h.Calls() {
		if c.Client != client || c.Step != trace.Acquire && c.Step != trace.Extend {
			continue
		}
		if c.Began != nil {
			at = []int{c.Began.Seq}
		}
		if c.Ended != nil {
			at = append(at, c.Ended.Seq)
		}
	}
	return at
}

// quietFor says for how long before an event no fault has acted.
func (h *inquiry) quietFor(ev *trace.Event) time.Duration {
	since, ever := h.Quiet(history.MomentOf(ev))
	if !ever {
		return 0
	}
	return ev.At - since.At
}

// calmSince says that from one event to a later one no fault acted, and that no clock had
// been changed before that.
func (h *inquiry) calmSince(from, to *trace.Event) bool {
	return h.quietFor(to) >= to.At-from.At && !slices.ContainsFunc(h.ClockChanges(), func(ev *trace.Event) bool {
		return ev.Clocks.Why != "" && ev.Seq < to.Seq
	})
}

// firstCall is the first call of a step in an acquisition; nil if there is none, or if it has
// not returned.
func (h *inquiry) firstCall(id history.Acquisition, step trace.Step) *history.Call {
	for _, c := range h.CallsOf(id) {
		if c.Step == step {
			if c.Began == nil || c.Ended == nil || c.Crashed != nil {
				return nil
			}
			return c
		}
	}
	return nil
}
