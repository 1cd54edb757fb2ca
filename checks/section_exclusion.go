package checks

import "fmt"

// SectionExclusion is violated when two clients' sections overlap, or two handles'
// of one client, whatever their leases say.
const SectionExclusion Property = "section-exclusion"

var sectionExclusion = property{
	name:  SectionExclusion,
	title: "no two clients are in their critical sections at the same time",
	judge: judgeSectionExclusion,
}

func judgeSectionExclusion(h *history) Finding {
	if len(h.trace.Locks) == 0 {
		return notApplicable(noLock)
	}
	for a, b := range h.pairs(func(s *section) moment { return s.to }) { // the first to begin is the first to break
		f := Finding{Outcome: Violated, At: b.from.seq, Events: []int{a.from.seq, b.from.seq}}
		f.Reason = fmt.Sprintf("%s entered its section at %v, while %s was in its own from %v until %v",
			h.name(b), b.from, h.name(a), a.from, a.to)
		f.Fault, f.Reason = h.sectionFault(a, b, f.Reason)
		return f
	}
	return holds()
}
