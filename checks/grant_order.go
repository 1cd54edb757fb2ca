package checks

import "fmt"

// GrantOrder is violated when a write of an older grant was applied after a
// newer grant was made, that is after its acquire returned.
const GrantOrder Property = "grant-order"

var grantOrder = property{
	name:  GrantOrder,
	title: "no write is applied once the lock has been granted anew",
	judge: judgeGrantOrder,
}

func judgeGrantOrder(h *history) Finding {
	switch {
	case len(h.trace.Locks) == 0:
		return notApplicable(noLock)
	case h.nobodyExcluded():
		return notApplicable(everybodyIn)
	case !h.ranked():
		return unknown(noRanks)
	}
	for _, v := range h.versions { // the first to be applied is the first to break
		if v.by.granted == nil {
			continue
		}
		for _, s := range h.sections {
			if s.lock == v.by.lock && !s.open && s.rank() > v.by.rank() && s.from.before(momentOf(v.made)) {
				return Finding{
					Outcome: Violated, At: v.made.Seq, Events: []int{s.from.seq, v.made.Seq},
					Reason: fmt.Sprintf("%s's write of %s was applied at %v, after %s had been granted the lock at %v",
						h.name(v.by), v.object, v.made.At, h.name(s), s.from),
				}
			}
		}
	}
	return holds()
}
