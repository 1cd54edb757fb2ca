package checks

import (
	"testing"

	"github.com/locksim/locksim/trace"
)

// If no server ends a lock, a waiting client counts how long its holder has been silent,
// and then takes the lock. If the client's clock counts too much time, the client takes the
// lock too early, and the assumption about clocks is to blame. If the client does not wait
// at all, the lock is to blame. The scripts are traces written by hand; see [script].
func TestExpiryJudgedByTheTaker(t *testing.T) {
	const held = `
			lock L ttl=15s nodes=A quorum=1
			0s  c1 calls
			0s  A sets by=c1/1 ttl=15s
			0s  c1 hears-that-it-lives session=s until=15s
			1s  c1 acquires rank=1 session=s notifies`
	const taken = `
			10s c2 calls
			10s A expires of=c1/1 by=c2/1
			10s A sets by=c2/1 ttl=15s
			10s c2 acquires rank=2 ends=25s <--`
	judgeAll(t, LeaseExclusion, []judgement{
		{name: "the waiter's clock counts too much time", want: Violated, blame: BlameAssumption(trace.AssumeClock), script: held + `
			1s  c2 shows wall=1s monotonic=1s ppb=1000000000 why=drift` + taken},
		{name: "the waiter's clock counts too much time since the last renewal", want: Violated, blame: BlameAssumption(trace.AssumeClock), script: held + `
			3s  c2 shows wall=1s monotonic=1s ppb=1000000000 why=drift
			4s  A touches of=c1/1 by=c1/1 ttl=15s` + taken},
		{name: "the waiter's clock counted too much time before the last renewal only", want: Violated, blame: BlameLock, script: held + `
			1s  c2 shows wall=1s monotonic=1s ppb=1000000000 why=drift
			3s  c2 shows wall=5s monotonic=5s why=drift
			4s  A touches of=c1/1 by=c1/1 ttl=15s` + taken},
		{name: "a third client's clock counts too much time", want: Violated, blame: BlameLock, script: held + `
			1s  c3 shows wall=1s monotonic=1s ppb=1000000000 why=drift` + taken},
		{name: "the waiter does not wait", want: Violated, blame: BlameLock, script: held + taken},
		{name: "the waiter waits for the TTL", want: Holds, script: held + `
			16s c2 calls
			16s A expires of=c1/1 by=c2/1
			16s A sets by=c2/1 ttl=15s
			16s c2 acquires rank=2 ends=31s`},
	})
	judgeAll(t, ReleaseOwnership, []judgement{
		{name: "a waiter takes over an expired key", want: Holds, script: held + `
			16s A expires of=c1/1 by=c2/1
			16s A sets by=c2/1 ttl=15s`},
		{name: "a waiter removes the holder's key", want: Violated, script: held + `
			16s A deletes of=c1/1 by=c2/1 <--`},
	})
}
