package checks

import "testing"

func TestTokenOrder(t *testing.T) {
	judgeAll(t, TokenOrder, []judgement{
		{name: "a token given out twice", want: Violated, says: []string{"c2 was granted the lock after c1", "token 7 is not greater than 7"}, story: `
			0s  c1 acquires rank=1 token=7 minted
			40s c2 acquires rank=2 token=7 minted <--`},
		{name: "tokens that grow", want: Holds, story: `
			0s  c1 acquires rank=1 token=7 minted
			40s c2 acquires rank=2 token=8 minted`},
		{name: "the order is the oracle's, not that of the returns", want: Holds, story: `
			0s  c2 acquires rank=2 token=8 minted
			40s c1 acquires rank=1 token=7 minted`},
		{name: "a stale holder gets the higher token", want: Violated, says: []string{"c2 was granted the lock after c1"}, story: `
			0s  c2 acquires rank=2 token=7 minted
			40s c1 acquires rank=1 token=8 minted <--`},
		{name: "not next to each other", want: Violated, says: []string{"token 8 is not greater than 9"}, story: `
			0s  c1 acquires rank=1 token=9 minted
			10s c2 acquires rank=2 token=10 minted
			20s c3 acquires rank=3 token=8 minted <--`},
		{name: "two locks count for themselves", want: Holds, story: `
			lock M ttl=30s
			0s  c1 acquires rank=1 token=7 minted
			40s c2 acquires rank=2 token=7 minted lock=M`},
		{name: "tokens of the oracle among them are left out", want: Holds, story: `
			0s  c1 acquires rank=1 token=7 minted
			40s c2 acquires rank=2 token=2`},
		{name: "only tokens of the oracle", want: NotApplicable, says: []string{"oracle"}, story: `
			0s  c1 acquires rank=1 token=1`},
		{name: "no tokens", want: NotApplicable, says: []string{"no grant came with"}, story: `
			0s  c1 acquires rank=1`},
		{name: "no order of grants", want: Unknown, story: `
			0s  c1 acquires token=7 minted`},
		{name: "no lock", want: NotApplicable, story: `
			no-lock
			0s c1 writes x=0>1`},
	})
}
