package checks

import "testing"

// The grant of c2 may have been made from the time "earliest" on. If the section or the lease of c1
// ended before that time, the order of the two is known, and so it is if c1's ended after the grant.
// The scripts are traces written by hand; see [script].
func TestGrantWithAnInterval(t *testing.T) {
	for property, ends := range map[Property]string{LeaseExclusion: "the lease of c1 ended at 10s", SectionExclusion: "the critical section of c1 ended at 10s"} {
		judgeAll(t, property, []judgement{
			{name: "c1 releases in the interval", want: Unknown, reasonParts: []string{"c2 was granted the lock between 9.9s and 10.1s", ends}, script: `
				0s    c1 acquires rank=1 ends=30s
				10s   c1 releases
				10.1s c2 acquires rank=2 ends=40s earliest=9900ms`},
			{name: "c1 releases before the interval", want: Holds, script: `
				0s    c1 acquires rank=1 ends=30s
				10s   c1 releases
				10.1s c2 acquires rank=2 ends=40s earliest=10s`},
			{name: "c1 releases after the grant", want: Violated, script: `
				0s    c1 acquires rank=1 ends=30s
				10.1s c2 acquires rank=2 ends=40s earliest=9900ms <--
				10.2s c1 releases`},
			{name: "a grant of another lock", want: Holds, script: `
				lock M ttl=30s
				0s    c1 acquires rank=1 ends=30s
				10s   c1 releases
				10.1s c2 acquires rank=1 ends=40s lock=M earliest=9900ms`},
			{name: "two holders admitted, and room for a second", want: Holds, script: `
				lock L ttl=30s holders=2
				0s    c1 acquires rank=1 ends=30s
				10s   c1 releases
				10.1s c2 acquires rank=2 ends=40s earliest=9900ms`},
			{name: "two holders admitted, and perhaps no room for a third", want: Unknown, script: `
				lock L ttl=30s holders=2
				0s    c1 acquires rank=1 ends=30s
				1s    c3 acquires rank=2 ends=31s
				10s   c1 releases
				10.1s c2 acquires rank=3 ends=40s earliest=9900ms`},
		})
	}
}

// A write of the older grant is applied in the interval of the newer grant.
func TestWriteInTheIntervalOfAGrant(t *testing.T) {
	judgeAll(t, GrantOrder, []judgement{
		{name: "in the interval", want: Unknown, reasonParts: []string{"c2 was granted the lock between 9.9s and 10.1s", "a write of c1 to x was applied at 10s"}, script: `
			0s    c1 acquires rank=1 ends=9s
			10s   c1 writes x=0>1
			10.1s c2 acquires rank=2 ends=40s earliest=9900ms`},
		{name: "before the interval", want: Holds, script: `
			0s    c1 acquires rank=1 ends=9s
			9.8s  c1 writes x=0>1
			10.1s c2 acquires rank=2 ends=40s earliest=9900ms`},
		{name: "after the grant", want: Violated, script: `
			0s    c1 acquires rank=1 ends=9s
			10.1s c2 acquires rank=2 ends=40s earliest=9900ms
			10.2s c1 writes x=0>1 <--`},
		{name: "in the interval of an older grant", want: Holds, script: `
			10s   c1 acquires rank=2 ends=40s
			10.1s c1 writes x=0>1
			10.2s c2 acquires rank=1 ends=9s earliest=9900ms`},
	})
}

// c2 reads an old version, which is wrong only if c1's section had ended before c2's began.
func TestSerialSectionsWithAnInterval(t *testing.T) {
	judgeAll(t, SerialSections, []judgement{
		{name: "c1 ends in the interval", want: Unknown, reasonParts: []string{"the critical section of c1 ended at 10s"}, script: `
			0s    c1 acquires rank=1 ends=30s
			1s    c1 reads x=0
			2s    c1 writes x=0>1
			10s   c1 releases
			10.1s c2 acquires rank=2 ends=40s earliest=9900ms
			10.2s c2 reads x=0`},
		{name: "c1 ends before the interval", want: Violated, script: `
			0s    c1 acquires rank=1 ends=30s
			1s    c1 reads x=0
			2s    c1 writes x=0>1
			10s   c1 releases
			10.1s c2 acquires rank=2 ends=40s earliest=10s
			10.2s c2 reads x=0 <--`},
	})
}
