package checks

import (
	"github.com/locksim/locksim/history"
)

// GrantOrder is violated when a write of an older grant was applied after a
// newer grant was made, that is after its acquire returned.
const GrantOrder Property = "grant-order"

var grantOrder = property{
	name:  GrantOrder,
	title: "no write is applied once the lock has been granted anew",
	judge: judgeGrantOrder,
}

func judgeGrantOrder(h *inquiry) Finding {
	switch {
	case len(h.Trace.Locks) == 0:
		return notApplicable(NoLock)
	case h.NobodyExcluded():
		return notApplicable(EverybodyIn)
	case !h.Ranked():
		return unknown(NoRanks)
	}
	for _, v := range h.Versions() { // the first to be applied is the first to break
		if v.By.Granted == nil {
			continue
		}
		for _, s := range h.Sections() {
			if s.Lock == v.By.Lock && !s.Open && s.Rank() > v.By.Rank() && s.From.Before(history.MomentOf(v.Made)) {
				return Finding{
					Outcome: Violated, At: v.Made.Seq, Events: []int{s.From.Seq, v.Made.Seq},
					Reason: Because(WroteAfterGrant,
						h.Name(v.By), v.Object, v.Made.At, h.Name(s), s.From),
				}
			}
		}
	}
	return holds()
}
