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
		{name: "minted only after the next grant", want: Violated,
			says: []string{"c2 was granted the lock after c1", "token 1 is not greater than 2", "both were out at 50s"}, story: `
			0s  c1 acquires rank=1
			40s c2 acquires rank=2
			41s c2 mints token=1
			50s c1 mints token=2 <--`},
		{name: "minted late, but before the next grant's", want: Holds, story: `
			0s  c1 acquires rank=1
			40s c2 acquires rank=2
			41s c1 mints token=1
			42s c2 mints token=2`},
		{name: "minted twice by one counter that came back empty", want: Violated, story: `
			0s  c1 acquires rank=1
			1s  c1 mints token=1
			40s c2 acquires rank=2
			41s c2 mints token=1 <--`},
		{name: "minted anew by both, and in order at last", want: Violated,
			says: []string{"c2 was granted the lock after c1", "token 1 is not greater than 2", "both were out at 50s"}, story: `
			0s  c1 acquires rank=1
			40s c2 acquires rank=2
			41s c2 mints token=1
			50s c1 mints token=2 <--
			51s c2 mints token=3`},
		{name: "crashed before it minted", want: Holds, story: `
			0s  c1 acquires rank=1
			1s  c1 crashes
			40s c2 acquires rank=2
			41s c2 mints token=1`},
		{name: "the counter did not answer", want: Holds, story: `
			0s  c1 acquires rank=1
			1s  c1 mints token=5
			40s c2 acquires rank=2
			41s c2 fails-to-mint
			80s c3 acquires rank=3
			81s c3 mints token=6`},
		{name: "nobody got to mint", want: NotApplicable, says: []string{"no grant came with"}, story: `
			0s  c1 acquires rank=1
			1s  c1 fails-to-mint`},
		{name: "a lock that has no token for one of its grants", want: Holds, story: `
			0s  c1 acquires rank=1 token=5 minted
			40s c2 acquires rank=2
			80s c3 acquires rank=3 token=6 minted`},
		{name: "and yet goes back", want: Violated, says: []string{"c3 was granted the lock after c1"}, story: `
			0s  c1 acquires rank=1 token=5 minted
			40s c2 acquires rank=2
			80s c3 acquires rank=3 token=4 minted <--`},
		{name: "everybody is let in", want: NotApplicable, says: []string{"everybody is let in"}, story: `
			lock L ttl=30s open
			0s  c1 acquires rank=1
			1s  c1 mints token=5
			2s  c2 acquires rank=2
			3s  c2 mints token=4`},
		{name: "tokens that have no order", want: NotApplicable, says: []string{"they have no order"}, story: `
			lock L ttl=30s unordered
			0s  c1 acquires rank=1
			1s  c1 mints token=5
			40s c2 acquires rank=2
			41s c2 mints token=4`},
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
