package checks

import (
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// This file judges what a trace of real servers cannot show. An event of such a trace may have
// happened at any time of an interval, from Earliest to At. If another event lies in the interval,
// nobody can know from outside which of the two came first. An event of a simulated run has no
// interval.

// mayPrecede reports whether an event may have happened before a moment, although the trace has the
// event later. ev may be nil: steps outside any critical section have no grant. Then the result is
// false.
func mayPrecede(ev *trace.Event, m history.Moment) bool {
	return ev != nil && ev.Earliest != 0 && ev.Earliest < m.At && !history.MomentOf(ev).Before(m)
}

// judgeUnseenGrants judges a run in which, by the times in the trace, the lock had room for each
// grant. But a grant may have been made earlier than its time, before another section of the lock
// ended. If the lock had no room for the grant then, the outcome is unknown. end returns when a
// section ends, and ended makes the reason that says when the section with a name ended.
func (h *judgedRun) judgeUnseenGrants(end func(*history.Section) history.Moment, ended code2[string, history.Moment]) Finding {
	for i, b := range h.Sections() {
		if b.Granted.Earliest == 0 || b.GrantsEveryone {
			continue
		}
		inside := func(a *history.Section) bool { return a.Lock == b.Lock && !a.GrantsEveryone && b.From.Before(end(a)) }
		unseen := func(a *history.Section) bool {
			return a.Lock == b.Lock && !a.GrantsEveryone && mayPrecede(b.Granted, end(a))
		}
		earlier := h.Sections()[:i]
		first := slices.IndexFunc(earlier, unseen)
		if first < 0 {
			continue
		}
		others := 0
		for _, a := range earlier {
			if inside(a) || unseen(a) {
				others++
			}
		}
		if a := earlier[first]; others >= max(b.MaxHolders, 1) {
			return h.unknownOrder(b, ended.Reason(h.Name(a), end(a)))
		}
	}
	return holds()
}

// unknownOrder returns the finding that a grant and another event may have happened in either
// order. other is the reason that says when the other event happened.
func (h *judgedRun) unknownOrder(granted *history.Section, other Reason) Finding {
	return unknown(orderUnseen.Reason(h.Name(granted), granted.Granted.Earliest, granted.From).And(other))
}
