package checks

import (
	"testing"

	"github.com/locksim/locksim/trace"
)

// A holder that relies on its own clock cannot know that its lease has ended before that
// clock has counted the length of the lease. Once the clock has counted it, the lock has no
// excuse.
func TestWhoseFaultASlowClockIs(t *testing.T) {
	const (
		session = `
			lock L ttl=15s nodes=A quorum=1
			0s  c1 shows wall=0s monotonic=0s
			0s  c1 shows wall=0s monotonic=0s ppb=-500000000 why=drifted
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
		told = `
			3s  c1 hears-that-it-lives session=s until=17s ttl=15s
			3s  c1 acquires rank=1 session=s notifies`
		taken = `
			18s c2 calls
			18s A sets by=c2/1 over=c1/1 ttl=15s
			18s c2 acquires rank=2 ends=33s <--
			20s c1 releases`
		takenLate = `
			40s c2 calls
			40s A sets by=c2/1 over=c1/1 ttl=15s
			40s c2 acquires rank=2 ends=55s <--
			41s c1 releases`
	)
	clock := BlameAssumption(trace.AssumeClock)
	judgeAll(t, SectionExclusion, []judgement{
		{name: "granted when the lease had ended, which the slow clock hid", want: Violated, blame: clock, script: session + lateGrant},
		{name: "granted when the lease had ended", want: Violated, blame: BlameLock, script: steady + lateGrant},
		{name: "not notified, by a slow clock", want: Violated, blame: clock, script: session + told + taken},
		{name: "not notified, by a clock that keeps time", want: Violated, blame: BlameLock, script: steady + told + taken},
		{name: "not notified, by a slow clock that has counted the whole lease", want: Violated, blame: BlameLock, script: session + told + takenLate},
		{name: "not notified, by a clock that lost a billionth", want: Violated, blame: BlameLock, script: `
			lock L ttl=15s nodes=A quorum=1
			0s  c1 shows wall=0s monotonic=0s ppb=-1 why=drifted
			1s  c1 calls
			2s  A sets by=c1/1 ttl=15s` + told + taken},
		{name: "not notified: the clock ran slow only while the renewal was under way", want: Violated, blame: clock, script: steady + `
			2s  c1 shows wall=2s monotonic=2s ppb=-500000000 why=drifted
			16s c1 shows wall=9s monotonic=9s why=drifted
			16s c1 hears-that-it-lives session=s until=17s ttl=15s
			16s c1 acquires rank=1 session=s notifies` + taken},
		{name: "not notified: the time of day was set back", want: Violated, blame: clock, script: steady + told + `
			5s  c1 shows wall=-55s monotonic=5s why=jumped` + taken},
		{name: "not notified: another client's clock is slow", want: Violated, blame: BlameLock, script: `
			0s  c2 shows wall=0s monotonic=0s ppb=-500000000 why=drifted` + steady + told + taken},
		{name: "a lock that reads true time", want: Violated, blame: BlameLock, script: session + `
			lock L ttl=15s nodes=A quorum=1 true-time` + told + taken},
		{name: "the end that the lock itself declared had passed by its slow clock", want: Violated, blame: BlameLock, script: session + `
			18s c1 acquires rank=1 ends=8s monotonic
			19s A sets by=c2/1 over=c1/1 ttl=15s
			19s c2 acquires rank=2 ends=33s <--
			20s c1 releases`},
	})
}
