package checks

import "testing"

// The scripts are traces written by hand; see [script].
func TestSectionExclusion(t *testing.T) {
	judgeAll(t, SectionExclusion, []judgement{
		{name: "c2 enters before c1's release", want: Violated,
			reasonParts: []string{"c2 entered its critical section at 40s", "c1 was in its own from 0s until 1m0s"}, script: `
			0s  c1 acquires rank=1 ends=30s
			40s c2 acquires rank=2 ends=70s <--
			60s c1 releases`},
		{name: "c2 enters right after c1 called release", want: Holds, script: `
			0s  c1 acquires rank=1 ends=30s
			40s c1 releases
			40s c2 acquires rank=2 ends=70s`},
		{name: "c1 never releases", want: Violated, script: `
			0s  c1 acquires rank=1 ends=30s
			40s c2 acquires rank=2 ends=70s <--`},
		{name: "c1 crashes before c2 enters", want: Holds, script: `
			0s  c1 acquires rank=1 ends=30s
			10s c1 crashes
			40s c2 acquires rank=2 ends=70s`},
		{name: "c1's program ends before c2 enters", want: Holds, script: `
			0s  c1 acquires rank=1 ends=30s
			10s c1 is-done
			40s c2 acquires rank=2 ends=70s`},
		{name: "c1 asks for the lock by another handle before c2 enters", want: Violated, script: `
			0s  c1 acquires rank=1 ends=30s
			35s c1 calls
			40s c2 acquires rank=2 ends=70s <--`},
		{name: "c1 asks for another lock before c2 enters", want: Violated, script: `
			lock M ttl=30s
			0s  c1 acquires rank=1 ends=30s
			35s c1 calls lock=M
			40s c2 acquires rank=2 ends=70s <--`},
		{name: "two holders admitted, and two at the same time", want: Holds, script: `
			lock L ttl=30s holders=2
			0s  c1 acquires rank=1 ends=30s
			40s c2 acquires rank=2 ends=70s
			50s c1 releases`},
		{name: "two holders admitted, and a third while one whose lease has ended continues", want: Violated, blame: BlameInherent,
			reasonParts: []string{"c3 entered its critical section at 40s", "c1 was in its own from 0s until 1m0s", "the lock admits 2 holders"}, script: `
			lock L ttl=30s holders=2
			0s  c1 acquires rank=1 ends=30s
			20s c2 acquires rank=2 ends=50s
			40s c3 acquires rank=3 ends=70s <--
			60s c1 releases`},
		{name: "two holders admitted, and a third when one has left its section", want: Holds, script: `
			lock L ttl=30s holders=2
			0s  c1 acquires rank=1 ends=30s
			20s c2 acquires rank=2 ends=50s
			40s c1 releases
			40s c3 acquires rank=3 ends=70s`},
		{name: "two handles of one client", want: Violated, blame: BlameInherent,
			reasonParts: []string{"c1 (section 2) entered its critical section at 30s, while c1 (section 1) was in its own from 0s until 40s"}, script: `
			0s  c1 acquires rank=1 ends=30s
			30s c1 acquires rank=2 ends=60s <--
			40s c1 releases section=1`},
		{name: "sections are numbered by the grants, without the failed attempts", want: Violated, blame: BlameInherent,
			reasonParts: []string{"c1 (section 2) entered its critical section at 30s, while c1 (section 1) was in its own from 0s until 40s"}, script: `
			0s  c1 fails
			0s  c1 acquires rank=1 ends=30s
			10s c1 fails
			20s c1 fails
			30s c1 acquires rank=2 ends=60s <--
			40s c1 releases section=2`},
		{name: "two handles of one client, the first of which had released", want: Holds, script: `
			0s  c1 acquires rank=1 ends=30s
			30s c1 releases
			30s c1 acquires rank=2 ends=60s
			40s c1 releases`},
		{name: "two locks", want: Holds, script: `
			lock M ttl=30s
			0s  c1 acquires rank=1
			10s c2 acquires rank=1 lock=M`},
		{name: "of several overlaps the first is reported", want: Violated, reasonParts: []string{"c2 (section 2) entered its critical section at 20s"}, script: `
			0s  c2 acquires rank=1
			5s  c2 releases
			10s c1 acquires rank=2
			20s c2 acquires rank=3 <--
			21s c3 acquires rank=4`},
		{name: "a lock that is granted to every client, and two sections that do not overlap", want: Holds, script: `
			lock L ttl=30s open
			0s  c1 acquires rank=1
			10s c1 releases
			11s c2 acquires rank=2`},
		{name: "a world without locks", want: NotApplicable, script: `
			no-lock
			0s c1 writes x=0>1`},
	})
}
