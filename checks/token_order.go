package checks

import (
	"fmt"
	"slices"
)

// TokenOrder is violated when, of the tokens that were minted, a later grant's
// is not greater than an earlier grant's. The order of grants is the oracle's.
// It does not apply to tokens that the oracle itself gave, nor to grants
// without tokens.
const TokenOrder Property = "token-order"

var tokenOrder = property{
	name:  TokenOrder,
	title: "every grant's fencing token is greater than those of earlier grants",
	judge: judgeTokenOrder,
}

func judgeTokenOrder(h *history) Finding {
	if len(h.trace.Locks) == 0 {
		return notApplicable(noLock)
	}
	minted := func(s *section) bool { return s.granted.Minted }
	switch {
	case !slices.ContainsFunc(h.sections, func(s *section) bool { return s.granted.Token != 0 }):
		return notApplicable("no grant came with a fencing token")
	case !slices.ContainsFunc(h.sections, minted):
		return notApplicable("the oracle gave the fencing tokens")
	case !h.ranked():
		return unknown(noRanks)
	}
	found := holds()
	h.pairs(func(a, b *section) {
		if !minted(a) || !minted(b) {
			return
		}
		old, young := a, b
		if b.rank() < a.rank() {
			old, young = b, a
		}
		if young.granted.Token > old.granted.Token {
			return
		}
		found = worse(found, Finding{
			Outcome: Violated, At: b.from.seq, Events: []int{a.from.seq, b.from.seq},
			Reason: fmt.Sprintf("%s was granted the lock after %s, yet its fencing token %d is not greater than %d; both were out at %v",
				h.name(young), h.name(old), young.granted.Token, old.granted.Token, b.from),
		})
	})
	return found
}
