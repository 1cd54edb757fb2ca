package checks

import "testing"

// The scripts are traces written by hand; see [script].
func TestGrantOrder(t *testing.T) {
	judgeAll(t, GrantOrder, []judgement{
		{name: "a lock that admits two holders", want: NotApplicable, reasonParts: []string{"the lock admits several holders"}, script: `
			lock L ttl=30s holders=2
			0s c1 acquires rank=1 ends=30s
			1s c2 acquires rank=2 ends=31s
			2s c1 writes x=0>1`},
		{name: "a write lands after the next grant", want: Violated,
			reasonParts: []string{"c1's write of x was applied at 41s, after c2 had been granted the lock at 40s"}, script: `
			0s  c1 acquires rank=1
			1s  c1 sends message=1
			40s c2 acquires rank=2
			41s c1 lands message=1 x=0>1 <--`},
		{name: "a write lands before the next grant", want: Holds, script: `
			0s  c1 acquires rank=1
			1s  c1 sends message=1
			39s c1 lands message=1 x=0>1
			40s c2 acquires rank=2`},
		{name: "a write is applied while the next acquire has not returned", want: Holds, script: `
			0s  c1 acquires rank=1
			38s c2 calls
			39s c1 writes x=0>1
			40s c2 acquires rank=2`},
		{name: "a write is refused after the next grant", want: Holds, script: `
			0s  c1 acquires rank=1
			40s c2 acquires rank=2
			41s c1 is-refused`},
		{name: "a read after the next grant", want: Holds, script: `
			0s  c1 acquires rank=1
			40s c2 acquires rank=2
			41s c1 reads x=0`},
		{name: "a write after a grant that returned later and is older", want: Holds, script: `
			0s  c2 acquires rank=2
			40s c1 acquires rank=1
			41s c2 writes x=0>1`},
		{name: "a write lands after the next grant of the same client", want: Violated, script: `
			0s  c1 acquires rank=1
			1s  c1 sends message=1
			2s  c1 releases
			3s  c1 acquires rank=2
			4s  c1 lands message=1 section=1 x=0>1 <--`},
		{name: "a write after a grant of another lock", want: Holds, script: `
			lock M ttl=30s
			0s  c1 acquires rank=1
			40s c2 acquires rank=2 lock=M
			41s c1 writes x=0>1`},
		{name: "a mark after the next grant", want: Holds, script: `
			0s  c1 acquires rank=1
			40s c2 acquires rank=2
			41s c1 marks x=0`},
		{name: "a service passes on a write after the next grant", want: Violated, script: `
			0s  c1 acquires rank=1
			1s  c1 sends message=1 via=s1
			40s c2 acquires rank=2
			41s c1 lands message=1 x=0>1 via=s1 <--`},
		{name: "the lock is granted to every client that asks", want: NotApplicable, reasonParts: []string{"every client enters its section"}, script: `
			lock L ttl=30s open
			0s  c1 acquires rank=1
			1s  c2 acquires rank=2
			2s  c1 writes x=0>1`},
		{name: "grants without ranks", want: Unknown, script: `
			0s  c1 acquires`},
		{name: "a world without locks", want: NotApplicable, script: `
			no-lock
			0s c1 writes x=0>1`},
	})
}
