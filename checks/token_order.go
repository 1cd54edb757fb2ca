package checks

import (
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// TokenOrder is violated when the fencing token that was made for a later grant is not greater than
// the token that was made for an earlier grant. The order of grants is that of the oracle (see
// [history.Oracle]), which orders them as a perfect lock service would have made them. The property
// does not apply to tokens of the oracle itself, to tokens without an order, or to grants without
// tokens.
const TokenOrder Property = "token-order"

var tokenOrder = property{
	Card: Card{
		Property: TokenOrder, Subject: SubjectConduct, Gravity: 9, Letter: "t",
		Title:  "every grant's fencing token is greater than those of earlier grants",
		Broken: "the fencing tokens do not grow",
		Label:  "token order", Meaning: "the fencing token of a later grant is not greater",
	},
	judge: judgeTokenOrder,
}

func judgeTokenOrder(h *judgedRun) Finding {
	if len(h.Trace.Locks) == 0 {
		return notApplicable(noLock.Reason())
	}
	unordered := func(l trace.LockInfo) bool { return l.Unordered }
	minted := func(s *history.Section) bool { return len(s.Minted) > 0 }
	carries := func(s *history.Section) bool { return s.Granted.Token != 0 || minted(s) }
	switch {
	case h.NoExclusion():
		return notApplicable(grantsEveryone.Reason())
	case slices.ContainsFunc(h.Trace.Locks, unordered):
		return notApplicable(tokensUnordered.Reason())
	case !slices.ContainsFunc(h.Sections(), carries):
		return notApplicable(noTokens.Reason())
	case !slices.ContainsFunc(h.Sections(), minted):
		return notApplicable(tokensOfOracle.Reason())
	case !h.HasRanks():
		return unknown(noRanks.Reason())
	}
	var old, young *history.Section // the sections of the first two tokens that are out of order
	var older, younger *trace.Event
	first := history.Never.Seq // the Seq at which both tokens had been minted
	for a, b := range h.Pairs(func(*history.Section) history.Moment { return history.Never }) {
		if first <= b.From.Seq {
			break // the tokens of later grants were minted after both tokens of the pair that was found
		}
		if a.GrantsEveryone || len(a.Minted) == 0 || len(b.Minted) == 0 {
			continue
		}
		if b.Rank() < a.Rank() {
			a, b = b, a
		}
		for _, o := range a.Minted {
			for _, y := range b.Minted {
				if y.Token <= o.Token && max(o.Seq, y.Seq) < first {
					old, young, older, younger, first = a, b, o, y, max(o.Seq, y.Seq)
				}
			}
		}
	}
	if old == nil {
		return holds()
	}
	return h.tokensOutOfOrder(old, young, older, younger)
}

// tokensOutOfOrder returns the finding that the token of the younger grant is not greater
// than the token of the older grant. o and y are the events with which the two tokens were
// minted.
func (h *judgedRun) tokensOutOfOrder(old, young *history.Section, o, y *trace.Event) Finding {
	first, second := o, y
	if second.Seq < first.Seq {
		first, second = second, first
	}
	f := Finding{
		Outcome: Violated, At: second.Seq, Events: []int{first.Seq, second.Seq},
		Reason: tokenNotGreater.Reason(h.Name(young), h.Name(old), Token(y.Token), Token(o.Token), second.At),
	}
	// Only tokens that acquire returned are the lock's. A separate source of tokens is no
	// part of it.
	if o.Step == trace.Acquire && y.Step == trace.Acquire {
		f.Blame, f.Reason = h.blameForTokens(old, young, second.Seq, f.Reason)
	}
	return f
}
