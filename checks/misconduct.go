package checks

import (
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// Misconduct is behaviour of a lock that no caller can accept, whatever happens to the data. A
// verdict has a finding on a property of misconduct only if the property is violated, and then the
// violation is always the lock's fault. A run without misconduct does not prove that the lock
// behaves well.

// misconduct returns a property that a lock violates by its own behaviour. The argument find
// returns the first violation as a reason, and the Seqs of the events that show it. A zero reason
// means that there is no violation.
func misconduct(c Card, find func(*judgedRun) (Reason, []int)) property {
	c.Subject = SubjectMisconduct
	return property{Card: c, judge: func(h *judgedRun) Finding {
		reason, events := find(h)
		return lockViolation(reason, events)
	}}
}

// lockViolation returns the finding of a violation by the lock; without a reason the
// property holds.
func lockViolation(reason Reason, events []int) Finding {
	if reason.IsZero() {
		return holds()
	}
	slices.Sort(events)
	f := Finding{Outcome: Violated, Reason: reason, Events: events, Blame: BlameLock}
	if len(events) > 0 {
		f.At = events[len(events)-1]
	}
	return f
}

// findNothing finds no violation. It is for properties whose violations only
// [judgedRun.endingFinding] and [judgedRun.complaintFinding] find.
func findNothing(*judgedRun) (Reason, []int) { return Reason{}, nil }

// endingFinding returns a violation of p if a client's code ended the run in a way that p
// forbids.
func (h *judgedRun) endingFinding(p Property) Finding {
	if e := h.Trace.Ending; e != nil && Property(e.Rule) == p && !h.isEndedByProgram() {
		return lockViolation(endedRun.Reason(e.Why), nil)
	}
	return holds()
}

// complaintFinding returns a violation of p if a client's program complained that its lock broke
// the rule p. A complaint about a rule that is not a property, but one of the program's own rules,
// is a violation of [conformance].
func (h *judgedRun) complaintFinding(p Property) Finding {
	for _, c := range h.Trace.Complaints {
		rule := Property(c.Rule)
		switch {
		case c.Rule == trace.CannotMake:
			rule = CannotBeMade
		case rule.Title() == "":
			rule = conformance
		}
		if rule == CannotBeMade && len(h.Acts()) > 0 {
			continue // a constructor that connects to a server may fail while a fault acts
		}
		if rule == p {
			f := lockViolation(complaint.Reason(c.Client, c.Why), h.lastCallEvents(c.Client))
			f.IsConclusive = true
			return f
		}
	}
	return holds()
}

// lastCallEvents returns the beginning and the end of a client's last call of acquire or extend,
// and the ends of later extensions that the lock made by itself.
func (h *judgedRun) lastCallEvents(client string) (at []int) {
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

// quietFor returns for how long before an event no fault has acted.
func (h *judgedRun) quietFor(ev *trace.Event) time.Duration {
	since, isQuiet := h.QuietSince(history.MomentOf(ev))
	if !isQuiet {
		return 0
	}
	return ev.At - since.At
}

// isCalmSince reports whether no fault acted from one event to a later one, and no clock
// had been changed before the later one.
func (h *judgedRun) isCalmSince(from, to *trace.Event) bool {
	return h.quietFor(to) >= to.At-from.At && !slices.ContainsFunc(h.ClockChanges(), func(ev *trace.Event) bool {
		return ev.Clocks.Why != "" && ev.Seq < to.Seq
	})
}

// firstCall returns the first call of a step in an acquisition. It returns nil if there is no such
// call, or if the call never returned.
func (h *judgedRun) firstCall(id history.Acquisition, step trace.Step) *history.Call {
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
