package checks

import (
	"testing"

	"github.com/locksim/locksim/trace"
)

// A holder that relies on its own clock cannot know that its lease has ended before that
// clock has counted the length of the lease. Once the clock has counted it, the lock has no
// excuse. A script begins with a slow or a steady clock, and ends with another client that takes
// over the lock; see [script].
func TestBlameForASlowClock(t *testing.T) {
	const (
		slow = `
			lock L ttl=15s nodes=A quorum=1
			0s  c1 shows wall=0s monotonic=0s
			0s  c1 shows wall=0s monotonic=0s ppb=-500000000 why=drift
			1s  c1 calls
			2s  A sets by=c1/1 ttl=15s`
		steady = `
			lock L ttl=15s nodes=A quorum=1
			0s  c1 shows wall=0s monotonic=0s
			1s  c1 calls
			2s  A sets by=c1/1 ttl=15s`
		lateGrant = `
			18s c1 hears-that-it-lives session=s until=17s ttl=15s
			18s c1 acquires rank=1 session=s notifies
			19s A sets by=c2/1 over=c1/1 ttl=15s
			19s c2 acquires rank=2 ends=33s <--
			20s c1 releases`
		granted = `
			3s  c1 hears-that-it-lives session=s until=17s ttl=15s
			3s  c1 acquires rank=1 session=s notifies`
		takenOver = `
			18s c2 calls
			18s A sets by=c2/1 over=c1/1 ttl=15s
			18s c2 acquires rank=2 ends=33s <--
			20s c1 releases`
		takenOverLate = `
			40s c2 calls
			40s A sets by=c2/1 over=c1/1 ttl=15s
			40s c2 acquires rank=2 ends=55s <--
			41s c1 releases`
	)
	clock := BlameAssumption(trace.AssumeClock)
	judgeAll(t, SectionExclusion, []judgement{
		{name: "a slow clock: acquire returns after the lease has ended", want: Violated, blame: clock, script: slow + lateGrant},
		{name: "a right clock: acquire returns after the lease has ended", want: Violated, blame: BlameLock, script: steady + lateGrant},
		{name: "a slow clock: the lock does not notify", want: Violated, blame: clock, script: slow + granted + takenOver},
		{name: "a right clock: the lock does not notify", want: Violated, blame: BlameLock, script: steady + granted + takenOver},
		{name: "a slow clock that has counted the whole lease: the lock does not notify", want: Violated, blame: BlameLock, script: slow + granted + takenOverLate},
		{name: "a clock that loses a billionth: the lock does not notify", want: Violated, blame: BlameLock, script: `
			lock L ttl=15s nodes=A quorum=1
			0s  c1 shows wall=0s monotonic=0s ppb=-1 why=drift
			1s  c1 calls
			2s  A sets by=c1/1 ttl=15s` + granted + takenOver},
		{name: "a clock that was slow only during acquire: the lock does not notify", want: Violated, blame: clock, script: steady + `
			2s  c1 shows wall=2s monotonic=2s ppb=-500000000 why=drift
			16s c1 shows wall=9s monotonic=9s why=drift
			16s c1 hears-that-it-lives session=s until=17s ttl=15s
			16s c1 acquires rank=1 session=s notifies` + takenOver},
		{name: "a wall clock that was set back: the lock does not notify", want: Violated, blame: clock, script: steady + granted + `
			5s  c1 shows wall=-55s monotonic=5s why=jump` + takenOver},
		{name: "another client's slow clock: the lock does not notify", want: Violated, blame: BlameLock, script: `
			0s  c2 shows wall=0s monotonic=0s ppb=-500000000 why=drift` + steady + granted + takenOver},
		{name: "a slow clock that the lock does not read: the lock does not notify", want: Violated, blame: BlameLock, script: slow + `
			lock L ttl=15s nodes=A quorum=1 true-time` + granted + takenOver},
		{name: "a slow clock that has passed the end that the lock declares when acquire returns", want: Violated, blame: BlameLock, script: slow + `
			18s c1 acquires rank=1 ends=8s monotonic
			19s A sets by=c2/1 over=c1/1 ttl=15s
			19s c2 acquires rank=2 ends=33s <--
			20s c1 releases`},
	})
}
