package checks

import (
	"github.com/locksim/locksim/history"
)

// SectionExclusion is violated when two clients' sections overlap, or two handles'
// of one client, whatever their leases say.
const SectionExclusion Property = "section-exclusion"

var sectionExclusion = property{
	Card: Card{
		Property: SectionExclusion, Of: OfExclusion, Gravity: 7, Column: "section",
		Title:  "no two clients are in their critical sections at the same time",
		Broken: "two clients are in their sections at once",
		Word:   "two at work", Means: "two clients are in their sections at the same time",
	},
	judge: judgeSectionExclusion,
}

func judgeSectionExclusion(h *inquiry) Finding {
	if len(h.Trace.Locks) == 0 {
		return notApplicable(NoLock)
	}
	for a, b := range h.Pairs(func(s *history.Section) history.Moment { return s.To }) { // the first to begin is the first to break
		f := Finding{Outcome: Violated, At: b.From.Seq, Events: []int{a.From.Seq, b.From.Seq}}
		f.Reason = Because(EnteredWhileInside,
			h.Name(b), b.From, h.Name(a), a.From, a.To)
		f.Fault, f.Reason = h.sectionFault(a, b, f.Reason)
		return f
	}
	return holds()
}
