package checks

import "testing"

// The scripts are traces written by hand; see [script].
func TestWriteOrder(t *testing.T) {
	judgeAll(t, WriteOrder, []judgement{
		{name: "an older grant's write on a newer one's", want: Violated,
			reasonParts: []string{"c1's write of x at 50s replaced the write that c2, which held a newer grant, had made at 41s"}, script: `
			0s  c1 acquires rank=1
			40s c2 acquires rank=2
			41s c2 writes x=0>1
			50s c1 writes x=1>2 <--`},
		{name: "a newer grant's write on an older one's", want: Holds, script: `
			0s  c1 acquires rank=1
			40s c2 acquires rank=2
			41s c1 writes x=0>1
			50s c2 writes x=1>2`},
		{name: "the older had read the newer one's write", want: Holds, script: `
			0s  c1 acquires rank=1
			40s c2 acquires rank=2
			41s c2 writes x=0>1
			49s c1 reads x=1
			50s c1 writes x=1>2`},
		{name: "it read it only after it had sent its own", want: Violated, script: `
			0s  c1 acquires rank=1
			1s  c1 sends message=1
			40s c2 acquires rank=2
			41s c2 writes x=0>1
			49s c1 reads x=1
			50s c1 lands message=1 x=1>2 <--`},
		{name: "the answer to its read had not arrived", want: Violated, script: `
			0s  c1 acquires rank=1
			40s c2 acquires rank=2
			41s c2 writes x=0>1
			42s c1 is-shown x=1
			50s c1 writes x=1>2 <--
			51s c1 learns x=1`},
		{name: "on another object", want: Holds, script: `
			0s  c1 acquires rank=1
			40s c2 acquires rank=2
			41s c2 writes y=0>1
			50s c1 writes x=0>1`},
		{name: "its own write", want: Holds, script: `
			0s  c1 acquires rank=1
			1s  c1 writes x=0>1
			2s  c1 writes x=1>2`},
		{name: "the token that was carried does not matter", want: Violated, script: `
			0s  c1 acquires rank=1 token=9 minted
			40s c2 acquires rank=2 token=3 minted
			41s c2 writes x=0>1
			50s c1 writes x=1>2 <--`},
		{name: "two locks", want: Holds, script: `
			lock M ttl=30s
			0s  c1 acquires rank=1
			40s c2 acquires rank=2 lock=M
			41s c2 writes x=0>1
			50s c1 writes x=1>2`},
		{name: "every client is granted the lock: an older token's write on a newer one's", want: Violated, script: `
			lock L ttl=30s open
			0s  c1 acquires rank=1
			1s  c2 acquires rank=2
			2s  c1 mints token=34
			3s  c2 mints token=33
			4s  c1 writes x=0>1
			5s  c2 writes x=1>2 <--`},
		{name: "every client is granted the lock: the order is not that in which they came", want: Holds, script: `
			lock L ttl=30s open
			0s  c1 acquires rank=1
			1s  c2 acquires rank=2
			2s  c1 mints token=34
			3s  c2 mints token=33
			4s  c2 writes x=0>1
			5s  c1 writes x=1>2`},
		{name: "every client is granted the lock, with tokens that have no order: the order is that in which they came", want: Violated, script: `
			lock L ttl=30s open unordered
			0s  c1 acquires rank=1
			1s  c2 acquires rank=2
			2s  c1 mints token=34
			3s  c2 mints token=33
			4s  c2 writes x=0>1
			5s  c1 writes x=1>2 <--`},
		{name: "a service passed it on", want: Violated, reasonParts: []string{"c1's write", "c2, which held a newer grant"}, script: `
			0s  c1 acquires rank=1
			40s c2 acquires rank=2
			41s c2 writes x=0>1 via=s1
			50s c1 writes x=1>2 via=s1 <--`},
		{name: "a mark", want: Holds, script: `
			0s  c1 acquires rank=1
			40s c2 acquires rank=2
			41s c2 writes x=0>1
			50s c1 marks x=1`},
		{name: "a write without a grant", want: Holds, script: `
			0s  c1 acquires rank=1
			41s c2 writes x=0>1
			50s c1 writes x=1>2`},
		{name: "the newer write was lost, and its number given out again", want: Holds, script: `
			0s  c1 acquires rank=1
			40s c2 acquires rank=2
			41s c2 writes x=0>1
			42s storage reverts x=1>0
			42s c1 writes x=0>1
			50s c1 writes x=1>2`},
		{name: "the newer write is there, but its number had been another's before", want: Violated, script: `
			0s  c1 acquires rank=1
			1s  c1 writes x=0>1
			2s  storage reverts x=1>0
			40s c2 acquires rank=2
			41s c2 writes x=0>1
			50s c1 writes x=1>2 <--`},
		{name: "no order of grants", want: Unknown, script: `
			0s  c1 acquires`},
		{name: "nobody wrote", want: Holds, script: `
			0s  c1 acquires rank=1`},
	})
}
