package checks

import "testing"

// The scripts are traces written by hand; see [script].
func TestLeaseExclusion(t *testing.T) {
	judgeAll(t, LeaseExclusion, []judgement{
		{name: "granted again while the lease runs", want: Violated,
			reasonParts: []string{"c2's acquire returned a lease at 29.999999999s", "although c1 held a lease from 0s until 30s"}, script: `
			0s            c1 acquires rank=1 ends=30s
			29.999999999s c2 acquires rank=2 ends=60s <--`},
		{name: "granted again before the release", want: Violated,
			reasonParts: []string{"c2's acquire returned a lease at 5s, although c1 held a lease from 0s until it asked to release at 10s"}, script: `
			0s  c1 acquires rank=1 ends=30s
			5s  c2 acquires rank=2 ends=35s <--
			10s c1 releases`},
		{name: "granted again in the nanosecond in which the lease ends", want: Holds, script: `
			0s  c1 acquires rank=1 ends=30s
			30s c2 acquires rank=2 ends=60s`},
		{name: "two handles of one client", want: Violated, blame: BlameLock,
			reasonParts: []string{"c1 (section 2)'s acquire returned a lease at 10s, although c1 (section 1) held a lease from 0s until 30s"}, script: `
			0s  c1 acquires rank=1 ends=30s
			10s c1 acquires rank=2 ends=40s <--`},
		{name: "two handles of one client, one after the other", want: Holds, script: `
			0s  c1 acquires rank=1 ends=30s
			30s c1 acquires rank=2 ends=60s`},
		{name: "two handles of one client, the first of which had released", want: Holds, script: `
			0s  c1 acquires rank=1 ends=30s
			10s c1 releases
			10s c1 acquires rank=2 ends=40s`},
		{name: "two handles of one client, the first of which extends too late", want: Violated,
			reasonParts: []string{"c1 (section 1)'s lease, granted at 0s, was extended at 40s although c1 (section 2) had been granted the lock at 30s"}, script: `
			0s  c1 acquires rank=1 ends=30s
			30s c1 acquires rank=2 ends=60s
			40s c1 extends section=1 ends=70s <--`},
		{name: "two locks", want: Holds, script: `
			lock M ttl=30s
			0s  c1 acquires rank=1 ends=30s
			10s c2 acquires rank=1 ends=40s lock=M`},

		{name: "release called ends a lease", want: Holds, script: `
			0s  c1 acquires rank=1 ends=30s
			10s c1 releases
			10s c2 acquires rank=2 ends=40s`},
		{name: "within a nanosecond the order of events decides", want: Violated, script: `
			0s  c1 acquires rank=1 ends=30s
			10s c2 acquires rank=2 ends=40s <--
			10s c1 releases`},
		{name: "a crash ends a lease", want: Holds, script: `
			0s  c1 acquires rank=1 ends=30s
			10s c1 crashes
			11s c2 acquires rank=2 ends=40s`},
		{name: "the end of the client's program does not end a lease", want: Violated, script: `
			0s  c1 acquires rank=1 ends=30s
			10s c1 is-done
			11s c2 acquires rank=2 ends=40s <--`},
		{name: "another client's crash does not end a lease", want: Violated, script: `
			0s  c1 acquires rank=1 ends=30s
			10s c3 crashes
			11s c2 acquires rank=2 ends=40s <--`},

		{name: "a lease without a declared end lasts one TTL from the call of acquire", want: Violated, script: `
			0s    c1 calls
			2s    c1 acquires rank=1
			29.9s c2 acquires rank=2 <--`},
		{name: "a lease without a declared end has ended one TTL after the call of acquire", want: Holds, script: `
			0s  c1 calls
			2s  c1 acquires rank=1
			30s c2 acquires rank=2`},
		{name: "a read does not extend a lease", want: Holds, script: `
			0s  c1 acquires rank=1
			20s c1 reads x=0
			35s c2 acquires rank=2`},
		{name: "a lease without a TTL never ends", want: Violated, reasonParts: []string{"until the end of the run"}, script: `
			lock L ttl=0s
			0s    c1 acquires rank=1
			9999h c2 acquires rank=2 <--`},
		{name: "a lock that promises to notify holds its lease until it notifies", want: Violated, script: `
			0s  c1 acquires rank=1 notifies
			99s c2 acquires rank=2 <--`},
		{name: "a notification ends a lease", want: Holds, script: `
			0s  c1 acquires rank=1 notifies
			98s c1 is-told-it-is-lost
			99s c2 acquires rank=2`},
		{name: "a notification by a lock that does not promise to notify", want: Violated, script: `
			0s  c1 acquires rank=1
			97s c2 acquires rank=2 <--
			98s c1 is-told-it-is-lost`},
		{name: "a notification before the declared end ends a lease", want: Holds, script: `
			0s  c1 acquires rank=1 ends=30s
			10s c1 is-told-it-is-lost
			11s c2 acquires rank=2 ends=41s`},
		{name: "a lease had ended when acquire returned it", want: Holds, script: `
			0s  c1 calls
			10s c2 acquires rank=2 ends=40s
			20s c1 acquires rank=1 ends=15s`},

		{name: "extended in time", want: Violated, script: `
			0s  c1 acquires rank=1 ends=30s
			20s c1 extends ends=50s
			40s c2 acquires rank=2 ends=70s <--`},
		{name: "extended, and ended", want: Holds, script: `
			0s  c1 acquires rank=1 ends=30s
			20s c1 extends ends=50s
			50s c2 acquires rank=2 ends=80s`},
		{name: "an extend can shorten", want: Holds, script: `
			0s  c1 acquires rank=1 ends=30s
			10s c1 extends ends=20s
			20s c2 acquires rank=2 ends=50s`},
		{name: "an extend cannot end a lease in the past", want: Violated, script: `
			0s  c1 acquires rank=1 ends=30s
			9s  c2 acquires rank=2 ends=39s <--
			10s c1 extends ends=5s`},
		{name: "extended after it had ended and been granted to another", want: Violated,
			reasonParts: []string{"c1's lease, granted at 0s, was extended at 40s although c2 had been granted the lock at 30s"}, script: `
			0s  c1 acquires rank=1 ends=30s
			30s c2 acquires rank=2 ends=35s
			40s c1 extends ends=70s <--`},
		{name: "extended after it had ended, and no other client was granted the lock", want: Holds, script: `
			0s  c1 acquires rank=1 ends=30s
			40s c1 extends ends=70s
			70s c2 acquires rank=2 ends=99s`},
		{name: "extended for one TTL from the call of extend", want: Violated, script: `
			0s    c1 acquires rank=1
			20s   c1 asks-to-extend
			25s   c1 extended
			49.9s c2 acquires rank=2 <--`},
		{name: "extended for no longer than one TTL from the call of extend", want: Holds, script: `
			0s  c1 acquires rank=1
			20s c1 asks-to-extend
			25s c1 extended
			50s c2 acquires rank=2`},
		{name: "extended after release", want: Holds, script: `
			0s  c1 acquires rank=1 ends=30s
			10s c1 releases
			20s c2 acquires rank=2 ends=50s
			25s c1 extends ends=55s`},

		{name: "extended by the lock itself", want: Violated, script: `
			0s  c1 acquires rank=1 ends=30s
			20s c1 extended ends=50s
			40s c2 acquires rank=2 ends=70s <--`},
		{name: "extended by the lock itself, and then ended", want: Holds, script: `
			0s  c1 acquires rank=1 ends=30s
			20s c1 extended ends=50s
			50s c2 acquires rank=2 ends=80s`},
		{name: "extended by the lock itself when another client had been granted the lock", want: Violated,
			reasonParts: []string{"c1's lease, granted at 0s, was extended at 40s although c2 had been granted the lock at 30s"}, script: `
			0s  c1 acquires rank=1 ends=30s
			30s c2 acquires rank=2 ends=60s
			40s c1 extended ends=70s <--`},
		{name: "extended by the lock itself without a declared end: one TTL from the extension", want: Violated, script: `
			0s    c1 acquires rank=1
			20s   c1 extended
			49.9s c2 acquires rank=2 <--`},
		{name: "a lease without a TTL, and the holder crashed", want: Holds, script: `
			lock L ttl=0s
			0s c1 acquires rank=1
			9s c1 crashes
			9s c2 acquires rank=2`},
		{name: "a lease without a TTL, and another client crashed", want: Violated, script: `
			lock L ttl=0s
			0s c1 acquires rank=1
			9s c3 crashes
			9s c2 acquires rank=2 <--`},
		{name: "the lock is granted to every client that asks", want: NotApplicable, reasonParts: []string{"every client enters its section"}, script: `
			lock L ttl=30s open
			0s c1 acquires rank=1
			1s c2 acquires rank=2`},
		{name: "two holders admitted, and two leases at once", want: Holds, script: `
			lock L ttl=30s holders=2
			0s  c1 acquires rank=1 ends=30s
			10s c2 acquires rank=2 ends=40s`},
		{name: "two holders admitted, and three leases at once", want: Violated,
			reasonParts: []string{"c3's acquire returned a lease at 20s, although c2 held a lease from 10s until 40s", "the lock admits 2 holders"}, script: `
			lock L ttl=30s holders=2
			0s  c1 acquires rank=1 ends=30s
			10s c2 acquires rank=2 ends=40s
			20s c3 acquires rank=3 ends=50s <--`},
		{name: "two holders admitted, and a third when one lease has ended", want: Holds, script: `
			lock L ttl=30s holders=2
			0s  c1 acquires rank=1 ends=30s
			10s c2 acquires rank=2 ends=40s
			30s c3 acquires rank=3 ends=60s`},
		{name: "two holders admitted, and three leases in turn beside one that lasts", want: Holds, script: `
			lock L ttl=60s holders=2
			0s  c1 acquires rank=1 ends=60s
			10s c2 acquires rank=2 ends=70s
			20s c2 releases
			20s c3 acquires rank=3 ends=80s
			30s c3 releases
			30s c4 acquires rank=4 ends=90s`},
		{name: "two holders admitted, and a lease that had ended is extended beside two others", want: Violated,
			reasonParts: []string{"c1's lease, granted at 0s, was extended at 40s although c3 had been granted the lock at 30s"}, script: `
			lock L ttl=30s holders=2
			0s  c1 acquires rank=1 ends=30s
			20s c2 acquires rank=2 ends=50s
			30s c3 acquires rank=3 ends=60s
			40s c1 extends section=1 ends=70s <--`},
		{name: "two holders admitted, in each of two locks", want: Holds, script: `
			lock L ttl=30s holders=2
			lock M ttl=30s holders=2
			0s c1 acquires rank=1 ends=30s
			1s c2 acquires rank=2 ends=31s
			2s c3 acquires rank=1 ends=32s lock=M
			3s c4 acquires rank=2 ends=33s lock=M`},
		{name: "no client was granted the lock", want: Holds, script: `
			0s c1 fails`},
		{name: "a world without locks", want: NotApplicable, reasonParts: []string{"no lock"}, script: `
			no-lock
			0s c1 writes x=0>1`},
	})
}
