package checks

import "testing"

// The scripts are traces written by hand; see [script]. "rank" is the grant's position
// in the oracle's order of grants: a newer grant has a higher rank.
func TestWriteOrder(t *testing.T) {
	judgeAll(t, WriteOrder, []judgement{
		{name: "an older grant's write over a newer grant's write", want: Violated,
			reasonParts: []string{"c1's write of x at 50s replaced the write that c2, which held a newer grant, had made at 41s"}, script: `
			0s  c1 acquires rank=1
			40s c2 acquires rank=2
			41s c2 writes x=0>1
			50s c1 writes x=1>2 <--`},
		{name: "a newer grant's write over an older grant's write", want: Holds, script: `
			0s  c1 acquires rank=1
			40s c2 acquires rank=2
			41s c1 writes x=0>1
			50s c2 writes x=1>2`},
		{name: "the client with the older grant had read the newer grant's write", want: Holds, script: `
			0s  c1 acquires rank=1
			40s c2 acquires rank=2
			41s c2 writes x=0>1
			49s c1 reads x=1
			50s c1 writes x=1>2`},
		{name: "the client with the older grant read the newer grant's write after it had sent its own", want: Violated, script: `
			0s  c1 acquires rank=1
			1s  c1 sends message=1
			40s c2 acquires rank=2
			41s c2 writes x=0>1
			49s c1 reads x=1
			50s c1 lands message=1 x=1>2 <--`},
		{name: "the answer to the read of the newer grant's write had not arrived", want: Violated, script: `
			0s  c1 acquires rank=1
			40s c2 acquires rank=2
			41s c2 writes x=0>1
			42s c1 is-shown x=1
			50s c1 writes x=1>2 <--
			51s c1 learns x=1`},
		{name: "the writes of the two grants are to different objects", want: Holds, script: `
			0s  c1 acquires rank=1
			40s c2 acquires rank=2
			41s c2 writes y=0>1
			50s c1 writes x=0>1`},
		{name: "a client overwrites its own write", want: Holds, script: `
			0s  c1 acquires rank=1
			1s  c1 writes x=0>1
			2s  c1 writes x=1>2`},
		{name: "the older grant has the greater token", want: Violated, script: `
			0s  c1 acquires rank=1 token=9 minted
			40s c2 acquires rank=2 token=3 minted
			41s c2 writes x=0>1
			50s c1 writes x=1>2 <--`},
		{name: "the two grants are of different locks", want: Holds, script: `
			lock M ttl=30s
			0s  c1 acquires rank=1
			40s c2 acquires rank=2 lock=M
			41s c2 writes x=0>1
			50s c1 writes x=1>2`},
		{name: "every client is granted the lock: a smaller token's write over a greater token's write", want: Violated, script: `
			lock L ttl=30s open
			0s  c1 acquires rank=1
			1s  c2 acquires rank=2
			2s  c1 mints token=34
			3s  c2 mints token=33
			4s  c1 writes x=0>1
			5s  c2 writes x=1>2 <--`},
		{name: "every client is granted the lock: a greater token's write over a smaller token's write of a later client", want: Holds, script: `
			lock L ttl=30s open
			0s  c1 acquires rank=1
			1s  c2 acquires rank=2
			2s  c1 mints token=34
			3s  c2 mints token=33
			4s  c2 writes x=0>1
			5s  c1 writes x=1>2`},
		{name: "every client is granted the lock, with tokens without an order: the order of the grants counts", want: Violated, script: `
			lock L ttl=30s open unordered
			0s  c1 acquires rank=1
			1s  c2 acquires rank=2
			2s  c1 mints token=34
			3s  c2 mints token=33
			4s  c2 writes x=0>1
			5s  c1 writes x=1>2 <--`},
		{name: "a service passes on the older grant's write", want: Violated, reasonParts: []string{"c1's write", "c2, which held a newer grant"}, script: `
			0s  c1 acquires rank=1
			40s c2 acquires rank=2
			41s c2 writes x=0>1 via=s1
			50s c1 writes x=1>2 via=s1 <--`},
		{name: "a mark over the newer grant's write", want: Holds, script: `
			0s  c1 acquires rank=1
			40s c2 acquires rank=2
			41s c2 writes x=0>1
			50s c1 marks x=1`},
		{name: "a write without a grant", want: Holds, script: `
			0s  c1 acquires rank=1
			41s c2 writes x=0>1
			50s c1 writes x=1>2`},
		{name: "the newer grant's write was lost, and another write got its version number", want: Holds, script: `
			0s  c1 acquires rank=1
			40s c2 acquires rank=2
			41s c2 writes x=0>1
			42s storage reverts x=1>0
			42s c1 writes x=0>1
			50s c1 writes x=1>2`},
		{name: "the newer grant's write has the version number of a write that was lost before", want: Violated, script: `
			0s  c1 acquires rank=1
			1s  c1 writes x=0>1
			2s  storage reverts x=1>0
			40s c2 acquires rank=2
			41s c2 writes x=0>1
			50s c1 writes x=1>2 <--`},
		{name: "grants without ranks", want: Unknown, script: `
			0s  c1 acquires`},
		{name: "no write", want: Holds, script: `
			0s  c1 acquires rank=1`},
	})
}
