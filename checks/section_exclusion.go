package checks

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/history"
)

// SectionExclusion is violated when two clients' critical sections overlap, whatever their leases
// are. For a lock with room for N clients it is violated when there are more than N
// sections at one moment.
const SectionExclusion Property = "section-exclusion"

var sectionExclusion = property{
	Card: Card{
		Property: SectionExclusion, Subject: SubjectExclusion, Gravity: 8, Column: "section",
		Title:  "no two clients are in their critical sections at the same time",
		Broken: "two clients are in their critical sections at the same time",
		Label:  "two at work", Meaning: "two clients are in their critical sections at the same time",
	},
	judge: judgeSectionExclusion,
}

func judgeSectionExclusion(h *judgedRun) Finding {
	if len(h.Trace.Locks) == 0 {
		return notApplicable(noLock.Reason())
	}
	end := func(s *history.Section) history.Moment { return s.To }
	for others, b := range h.GrantsBeyondRoom(end) { // the first section to begin is the first violation
		a := slices.MinFunc(others, func(a, b *history.Section) int { return cmp.Compare(a.Lease.End().At, b.Lease.End().At) })
		f := Finding{Outcome: Violated, At: b.From.Seq, Events: []int{a.From.Seq, b.From.Seq}}
		f.Reason = enteredWhileInside.Reason(h.Name(b), b.From, h.Name(a), a.From, a.To)
		f.Blame, f.Reason = h.blameForSections(a, b, f.Reason.withRoom(b.MaxHolders))
		return f
	}
	return h.judgeUnseenGrants(end, sectionEnded)
}
