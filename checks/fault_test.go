package checks

import (
	"strings"
	"testing"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// The cases differ in what the nodes did with c1's keys before c2 was granted the lock. The
// scripts of this file are traces written by hand; see [script].
func TestWhoseFaultALeaseOverlapIs(t *testing.T) {
	const (
		granted = `
			0s  c1 calls
			0s  A sets by=c1/1 ttl=30s
			0s  B sets by=c1/1 ttl=30s
			0s  C sets by=c1/1 ttl=30s
			1s  c1 acquires rank=1 ends=30s`
		again = `
			20s c2 calls
			20s C sets by=c2/1 ttl=30s value=value-2
			20s D sets by=c2/1 ttl=30s value=value-2
			20s E sets by=c2/1 ttl=30s value=value-2
			21s c2 acquires rank=2 ends=50s <--`
		elsewhere = `
			20s c2 calls
			20s R sets by=c2/1 ttl=30s value=value-2
			20s D sets by=c2/1 ttl=30s value=value-2
			20s E sets by=c2/1 ttl=30s value=value-2
			21s c2 acquires rank=2 ends=50s <--`
	)
	judgeAll(t, LeaseExclusion, []judgement{
		{name: "every node kept every key", want: Violated, blame: BlameLock, script: granted + `
			19s C deletes by=c1/1 of=c1/1` + again},
		{name: "a node's clock ended a key early", want: Violated, blame: BlameAssumption(trace.AssumeClock), script: granted + `
			19s C expires of=c1/1` + again},
		{name: "a key ended when it was due", want: Violated, blame: BlameLock, script: `
			-12s C sets by=c3/1 ttl=30s key=L` + granted + `
			19s  D sets by=c1/1 ttl=500ms
			19s  D touches by=c1/1 of=c1/1 ttl=200ms
			19200ms D expires of=c1/1` + again},
		{name: "a key that had been renewed ended early", want: Violated, blame: BlameAssumption(trace.AssumeClock), script: granted + `
			10s C touches by=c1/1 of=c1/1 ttl=15s
			19s C expires of=c1/1` + again},
		{name: "a node forgot a key in a crash", want: Violated, blame: BlameAssumption(trace.AssumeLockMemory), script: granted + `
			10s C crashes
			15s C restarts
			15s C forgets of=c1/1` + again},
		{name: "a node forgot a key that was to stand until then", want: Violated, blame: BlameLock, script: granted + `
			9s  C touches by=c1/1 of=c1/1 ttl=12s
			10s C crashes
			15s C restarts
			15s C forgets of=c1/1` + again},
		{name: "a node forgot a key that was to stand just longer", want: Violated, blame: BlameAssumption(trace.AssumeLockMemory), script: granted + `
			9s  C touches by=c1/1 of=c1/1 ttl=12001ms
			10s C crashes
			15s C restarts
			15s C forgets of=c1/1` + again},
		{name: "an older state came back", want: Violated, blame: BlameAssumption(trace.AssumeLockMemory), script: granted + `
			10s C crashes
			15s C restarts
			15s C restores of=c1/1 ttl=1s` + again},
		{name: "a longer life came back", want: Violated, blame: BlameLock, script: granted + `
			10s C crashes
			15s C restarts
			15s C restores of=c1/1 ttl=99s` + again},
		{name: "a replica without the key was promoted", want: Violated, blame: BlameAssumption(trace.AssumeLockMemory), script: granted + `
			10s C crashes
			15s R replaces C` + again},
		{name: "a replica with the key was promoted", want: Violated, blame: BlameLock, script: granted + `
			2s  R restores of=c1/1 ttl=28s
			10s C crashes
			15s R replaces C` + again},
		{name: "a replica of another node was promoted", want: Violated, blame: BlameLock, script: granted + `
			10s D crashes
			15s R replaces D` + again},
		{name: "a master that was replaced may forget", want: Violated, blame: BlameLock, script: granted + `
			2s  R restores of=c1/1 ttl=28s
			9s  R replaces C
			10s C forgets of=c1/1` + elsewhere},
		{name: "a master that was replaced renewed it", want: Violated, blame: BlameAssumption(trace.AssumeLockMemory), script: granted + `
			2s  R restores of=c1/1 ttl=15s
			9s  R replaces C
			10s C touches by=c1/1 of=c1/1 ttl=30s` + again},
		{name: "a master renewed it, and is replaced before its replica has received that", want: Violated, blame: BlameAssumption(trace.AssumeLockMemory), script: granted + `
			2s  R restores of=c1/1 ttl=15s
			9s  C touches by=c1/1 of=c1/1 ttl=30s
			10s R replaces C` + again},
		{name: "a master renewed it, and is replaced after its replica has received that", want: Violated, blame: BlameLock, script: granted + `
			2s  R restores of=c1/1 ttl=15s
			9s  C touches by=c1/1 of=c1/1 ttl=30s
			10s R restores of=c1/1 ttl=29s
			11s R replaces C` + elsewhere},
		{name: "a master renewed it, and is replaced too late to matter", want: Violated, blame: BlameLock, script: granted + `
			2s  R restores of=c1/1 ttl=15s
			9s  C touches by=c1/1 of=c1/1 ttl=30s` + again + `
			22s R replaces C`},
		{name: "a master that was replaced renewed a key that is not the lock's", want: Violated, blame: BlameLock, script: granted + `
			1s  C sets by=c1/1 ttl=30s key=other
			2s  R restores of=c1/1 ttl=28s
			9s  R replaces C
			10s C touches by=c1/1 of=c1/1 ttl=30s key=other` + elsewhere},
		{name: "a key that was to stand for ever was forgotten", want: Violated, blame: BlameAssumption(trace.AssumeLockMemory), script: granted + `
			2s  C sets by=c1/1
			19s C forgets of=c1/1` + again},
		{name: "a replica that lost a key is no node of the lock", want: Violated, blame: BlameLock, script: granted + `
			2s  R restores of=c1/1 ttl=28s
			10s R forgets of=c1/1` + again},
		{name: "a promoted replica is", want: Violated, blame: BlameAssumption(trace.AssumeLockMemory), script: granted + `
			2s  R restores of=c1/1 ttl=28s
			9s  R replaces C
			10s R forgets of=c1/1` + again},
		{name: "both", want: Violated, blame: BlameAssumption(trace.AssumeClock, trace.AssumeLockMemory), script: granted + `
			9s  B expires of=c1/1
			10s C forgets of=c1/1` + again},
		{name: "the holder's own loss is what counts", want: Violated, blame: BlameAssumption(trace.AssumeClock), script: granted + `
			2s  D sets by=c3/1 ttl=30s
			3s  D forgets of=c3/1
			10s C expires of=c1/1` + again},
		{name: "the loss of another client's key is no excuse", want: Violated, blame: BlameLock, script: granted + `
			2s  D sets by=c3/1 ttl=30s
			3s  D forgets of=c3/1` + again},
		{name: "a loss that came too late to matter", want: Violated, blame: BlameLock, script: granted + again + `
			22s A forgets of=c1/1`},
		{name: "a loss of a key that is not the lock's", want: Violated, blame: BlameLock, script: granted + `
			2s  A sets by=c1/1 ttl=30s key=other
			3s  A forgets of=c1/1 key=other` + again},
	})
}

// A lease needs a quorum. If one node of five did not keep a key that was renewed on it, no
// other client can be granted the lock. R, S and T are replicas of A, B and C that have not
// received the renewal. A does not know that R has replaced it.
func TestWhoseFaultALeaseIsThatWasProlongedInVain(t *testing.T) {
	const (
		five = `
			0s  c1 calls
			0s  A sets by=c1/1 ttl=15s
			0s  B sets by=c1/1 ttl=15s
			0s  C sets by=c1/1 ttl=15s
			0s  D sets by=c1/1 ttl=15s
			0s  E sets by=c1/1 ttl=15s
			1s  c1 acquires rank=1 ends=15s
			2s  R restores of=c1/1 ttl=13s
			2s  S restores of=c1/1 ttl=13s
			2s  T restores of=c1/1 ttl=13s
			8s  R replaces A`
		all = `
			9s  A touches by=c1/1 of=c1/1 ttl=30s
			9s  B touches by=c1/1 of=c1/1 ttl=30s
			9s  C touches by=c1/1 of=c1/1 ttl=30s
			9s  D touches by=c1/1 of=c1/1 ttl=30s
			9s  E touches by=c1/1 of=c1/1 ttl=30s
			9s  c1 extends ends=39s`
		prolonged = five + all
		again     = `
			20s c2 calls
			20s c2 acquires rank=2 ends=50s <--`
	)
	inVain := BlameAssumption(trace.AssumeLockMemory)
	judgeAll(t, LeaseExclusion, []judgement{
		{name: "one of five", want: Violated, blame: BlameLock, script: prolonged + again},
		{name: "two of five", want: Violated, blame: BlameLock, script: prolonged + `
			10s S replaces B` + again},
		{name: "three of five", want: Violated, blame: inVain, script: prolonged + `
			10s S replaces B
			11s T replaces C` + again},
		{name: "three of five, of which one has heard of it in time", want: Violated, blame: BlameLock, script: prolonged + `
			10s S replaces B
			10s T restores of=c1/1 ttl=29s
			11s T replaces C` + again},
		{name: "three of five, and the third heard of it by the client itself", want: Violated, blame: BlameLock, script: prolonged + `
			10s S replaces B
			11s T replaces C
			12s T touches by=c1/1 of=c1/1 ttl=30s` + again},
		{name: "three of five, but the third is replaced too late to matter", want: Violated, blame: BlameLock, script: prolonged + `
			10s S replaces B` + again + `
			21s T replaces C`},
		{name: "one of the three that it had been granted by", want: Violated, blame: inVain, script: `
			0s  c1 calls
			0s  A sets by=c1/1 ttl=15s
			0s  B sets by=c1/1 ttl=15s
			0s  C sets by=c1/1 ttl=15s
			1s  c1 acquires rank=1 ends=15s
			8s  R replaces A
			8s  R restores of=c1/1 ttl=7s
			9s  A touches by=c1/1 of=c1/1 ttl=30s
			9s  B touches by=c1/1 of=c1/1 ttl=30s
			9s  C touches by=c1/1 of=c1/1 ttl=30s
			9s  c1 extends ends=39s` + again},
		{name: "one of five, where two others had been given up", want: Violated, blame: inVain, script: prolonged + `
			10s D deletes by=c1/1 of=c1/1
			10s E deletes by=c1/1 of=c1/1` + again},
		{name: "one of five, where another client removed two others", want: Violated, blame: BlameLock, script: prolonged + `
			10s D deletes by=c2/1 of=c1/1
			10s E deletes by=c2/1 of=c1/1` + again},
		{name: "one of five, where two others forgot", want: Violated, blame: inVain, script: prolonged + `
			10s D crashes
			11s D restarts
			11s D forgets of=c1/1
			12s E crashes
			13s E restarts
			13s E forgets of=c1/1` + again},
		{name: "three of five that were to stand only until then", want: Violated, blame: BlameLock, script: five + `
			9s  A touches by=c1/1 of=c1/1 ttl=11s
			9s  B touches by=c1/1 of=c1/1 ttl=11s
			9s  C touches by=c1/1 of=c1/1 ttl=11s
			9s  c1 extends ends=39s
			10s S replaces B
			11s T replaces C` + again},
		{name: "three of five that were to stand just longer", want: Violated, blame: inVain, script: five + `
			9s  A touches by=c1/1 of=c1/1 ttl=11001ms
			9s  B touches by=c1/1 of=c1/1 ttl=11001ms
			9s  C touches by=c1/1 of=c1/1 ttl=11001ms
			9s  c1 extends ends=39s
			10s S replaces B
			11s T replaces C` + again},
		{name: "the only node", want: Violated, blame: inVain, script: `
			lock L ttl=30s nodes=A quorum=1
			0s  c1 calls
			0s  A sets by=c1/1 ttl=15s
			1s  c1 acquires rank=1 ends=15s
			2s  R restores of=c1/1 ttl=13s
			8s  R replaces A
			9s  A touches by=c1/1 of=c1/1 ttl=30s
			9s  c1 extends ends=39s` + again},
		{name: "the only node, whose replica's replica has not heard of it", want: Violated, blame: inVain, script: `
			lock L ttl=30s nodes=A quorum=1
			0s  c1 calls
			0s  A sets by=c1/1 ttl=15s
			1s  c1 acquires rank=1 ends=15s
			2s  R restores of=c1/1 ttl=13s
			2s  S restores of=c1/1 ttl=13s
			8s  R replaces A
			9s  R touches by=c1/1 of=c1/1 ttl=30s
			9s  c1 extends ends=39s
			10s S replaces R` + again},
	})
}

// If one or two of five nodes lose their keys, no other client can be granted the lock,
// because three nodes still hold theirs. A lock that grants it nevertheless is to blame. A
// client with keys on only three nodes loses its quorum with one of them.
func TestWhoseFaultALeaseIsOfWhichAMinorityWasLost(t *testing.T) {
	const (
		five = `
			0s  c1 calls
			0s  A sets by=c1/1 ttl=30s
			0s  B sets by=c1/1 ttl=30s
			0s  C sets by=c1/1 ttl=30s
			0s  D sets by=c1/1 ttl=30s
			0s  E sets by=c1/1 ttl=30s
			1s  c1 acquires rank=1 ends=30s`
		again = `
			20s c2 calls
			20s c2 acquires rank=2 ends=50s <--`
	)
	forgot, clock := trace.AssumeLockMemory, trace.AssumeClock
	judgeAll(t, LeaseExclusion, []judgement{
		{name: "one of five", want: Violated, blame: BlameLock, script: five + `
			10s A forgets of=c1/1` + again},
		{name: "two of five", want: Violated, blame: BlameLock, script: five + `
			10s A forgets of=c1/1
			11s B expires of=c1/1` + again},
		{name: "three of five", want: Violated, blame: BlameAssumption(forgot), script: five + `
			10s A forgets of=c1/1
			11s B forgets of=c1/1
			12s C forgets of=c1/1` + again},
		{name: "three of five, each in its own way", want: Violated, blame: BlameAssumption(clock, forgot, trace.AssumeNetwork), script: five + `
			10s A forgets of=c1/1
			11s B expires of=c1/1
			12s C drops of=c1/1` + again},
		{name: "three of five, one of them too late to matter", want: Violated, blame: BlameLock, script: five + `
			10s A forgets of=c1/1
			11s B forgets of=c1/1` + again + `
			21s C forgets of=c1/1`},
		{name: "two of five, and another removed the third", want: Violated, blame: BlameLock, script: five + `
			10s A forgets of=c1/1
			11s B forgets of=c1/1
			12s C deletes by=c2/1 of=c1/1` + again},
		{name: "two of five, where its client had given up the third", want: Violated, blame: BlameAssumption(forgot), script: five + `
			9s  C deletes by=c1/1 of=c1/1
			10s A forgets of=c1/1
			11s B forgets of=c1/1` + again},
		{name: "three of five, one of which was given the key again", want: Violated, blame: BlameLock, script: five + `
			10s A forgets of=c1/1
			11s B forgets of=c1/1
			12s C forgets of=c1/1
			13s C sets by=c1/1 ttl=30s` + again},
		{name: "and lost it again", want: Violated, blame: BlameAssumption(clock, forgot), script: five + `
			10s A forgets of=c1/1
			11s B forgets of=c1/1
			12s C forgets of=c1/1
			13s C sets by=c1/1 ttl=30s
			14s C expires of=c1/1` + again},
		{name: "and its client gave it up", want: Violated, blame: BlameAssumption(forgot), script: five + `
			10s A forgets of=c1/1
			11s B forgets of=c1/1
			12s C expires of=c1/1
			13s C sets by=c1/1 ttl=30s
			14s C deletes by=c1/1 of=c1/1` + again},
		{name: "and was asked for no more than a second", want: Violated, blame: BlameAssumption(forgot), script: five + `
			10s A forgets of=c1/1
			11s B forgets of=c1/1
			12s C expires of=c1/1
			13s C sets by=c1/1 ttl=1s
			14s C expires of=c1/1` + again},
		{name: "three of five, one of which had it back for less, but long enough", want: Violated, blame: BlameLock, script: five + `
			10s A forgets of=c1/1
			11s B forgets of=c1/1
			12s C crashes
			13s C restarts
			13s C restores of=c1/1 ttl=7001ms` + again},
		{name: "and not for long enough", want: Violated, blame: BlameAssumption(forgot), script: five + `
			10s A forgets of=c1/1
			11s B forgets of=c1/1
			12s C crashes
			13s C restarts
			13s C restores of=c1/1 ttl=7s` + again},
		{name: "one of four, where the fifth never had it", want: Violated, blame: BlameLock, script: `
			0s  c1 calls
			0s  A sets by=c1/1 ttl=30s
			0s  B sets by=c1/1 ttl=30s
			0s  C sets by=c1/1 ttl=30s
			0s  D sets by=c1/1 ttl=30s
			1s  c1 acquires rank=1 ends=30s
			10s A forgets of=c1/1` + again},
		{name: "one of two, which were no quorum", want: Violated, blame: BlameLock, script: `
			0s  c1 calls
			0s  A sets by=c1/1 ttl=30s
			0s  B sets by=c1/1 ttl=30s
			1s  c1 acquires rank=1 ends=30s
			10s A forgets of=c1/1` + again},
		{name: "one that a replica replaced without the key, and one that forgot", want: Violated, blame: BlameLock, script: five + `
			10s R replaces A
			11s B forgets of=c1/1` + again},
		{name: "the same, and one whose clock ran ahead", want: Violated, blame: BlameAssumption(clock, forgot), script: five + `
			10s R replaces A
			11s B forgets of=c1/1
			12s C expires of=c1/1` + again},
		{name: "one of the three nodes of the client that learnt of its grant later", want: Violated, blame: BlameAssumption(forgot), script: `
			0s  c2 calls
			0s  A sets by=c2/1 ttl=30s value=value-2
			0s  B sets by=c2/1 ttl=30s value=value-2
			0s  C sets by=c2/1 ttl=30s value=value-2
			1s  C forgets of=c2/1 value=value-2
			2s  c1 calls
			2s  C sets by=c1/1 ttl=30s
			2s  D sets by=c1/1 ttl=30s
			2s  E sets by=c1/1 ttl=30s
			3s  c1 acquires rank=2 ends=32s
			4s  c2 acquires rank=1 ends=30s <--`},
		{name: "another's grant by three masters, one of which had been replaced", want: Violated, blame: BlameAssumption(forgot), script: five + `
			2s  R restores of=c1/1 ttl=28s
			9s  R replaces A
			20s c2 calls
			20s A sets by=c2/1 ttl=30s value=value-2
			20s B sets by=c2/1 ttl=30s value=value-2
			20s C sets by=c2/1 ttl=30s value=value-2
			20s c2 acquires rank=2 ends=50s <--`},
		{name: "by four, without which it was a quorum as well", want: Violated, blame: BlameLock, script: five + `
			2s  R restores of=c1/1 ttl=28s
			9s  R replaces A
			20s c2 calls
			20s A sets by=c2/1 ttl=30s value=value-2
			20s B sets by=c2/1 ttl=30s value=value-2
			20s C sets by=c2/1 ttl=30s value=value-2
			20s D sets by=c2/1 ttl=30s value=value-2
			20s c2 acquires rank=2 ends=50s <--`},
	})
}

// Until 30s every node keeps every key of c1, and c2 is granted the lock afterwards. So the
// nodes have broken no assumption. The cases differ in what c1's clocks do.
func TestWhoseFaultALeaseIsThatItsClientsClockMadeLonger(t *testing.T) {
	const again = `
		40s c2 calls
		40s c2 acquires rank=2 ends=70s <--`
	judgeAll(t, LeaseExclusion, []judgement{
		{name: "the wall clock jumped back while it held the lock", want: Violated, blame: BlameAssumption(trace.AssumeClock), script: `
			0s  c1 shows wall=0s monotonic=0s
			0s  c1 calls
			1s  c1 acquires rank=1 ends=30s
			20s c1 shows wall=5s monotonic=20s` + again},
		{name: "while it waited for the grant", want: Violated, blame: BlameAssumption(trace.AssumeClock), script: `
			0s  c1 shows wall=0s monotonic=0s
			0s  c1 calls
			20s c1 shows wall=5s monotonic=20s
			21s c1 acquires rank=1 ends=30s` + again},
		{name: "while it waited, and the other was granted the lock first", want: Violated, blame: BlameAssumption(trace.AssumeClock), script: `
			0s  c1 shows wall=0s monotonic=0s
			0s  c1 calls
			20s c1 shows wall=5s monotonic=20s
			40s c2 calls
			40s c2 acquires rank=2 ends=70s
			41s c1 acquires rank=1 ends=30s <--`},
		{name: "the clocks were slow from the start", want: Violated, blame: BlameAssumption(trace.AssumeClock), script: `
			0s  c1 shows wall=0s monotonic=0s ppb=-500000000
			0s  c1 calls
			1s  c1 acquires rank=1 ends=30s monotonic` + again},
		{name: "the machine was suspended", want: Violated, blame: BlameAssumption(trace.AssumeProcess), script: `
			0s  c1 shows wall=0s monotonic=0s
			0s  c1 calls
			1s  c1 shows wall=1s monotonic=1s halted
			35s c1 shows wall=35s monotonic=1s
			36s c1 acquires rank=1 ends=30s monotonic` + again},
		{name: "the machine is suspended still", want: Violated, blame: BlameAssumption(trace.AssumeProcess), script: `
			0s  c1 shows wall=0s monotonic=0s
			0s  c1 calls
			1s  c1 acquires rank=1 ends=30s
			20s c1 shows wall=20s monotonic=20s halted` + again},
		{name: "slow and suspended", want: Violated, blame: BlameAssumption(trace.AssumeClock, trace.AssumeProcess), script: `
			0s  c1 shows wall=0s monotonic=0s
			0s  c1 calls
			1s  c1 acquires rank=1 ends=30s monotonic
			2s  c1 shows wall=2s monotonic=2s ppb=-500000000
			20s c1 shows wall=11s monotonic=11s halted
			21s c1 shows wall=12s monotonic=11s ppb=-500000000` + again},
		{name: "slow, and suspended when it no longer mattered", want: Violated, blame: BlameAssumption(trace.AssumeClock), script: `
			0s  c1 shows wall=0s monotonic=0s ppb=-500000000
			0s  c1 calls
			1s  c1 acquires rank=1 ends=30s monotonic` + again + `
			41s c1 shows wall=20s monotonic=20s halted`},
		{name: "slow, and suspended before it called", want: Violated, blame: BlameAssumption(trace.AssumeClock), script: `
			-9s c1 shows wall=-9s monotonic=-9s halted
			-5s c1 shows wall=-5s monotonic=-9s ppb=-500000000
			-1s c1 calls
			1s  c1 acquires rank=1 ends=23s monotonic` + again},
		{name: "an extend whose end the clock put off", want: Violated, blame: BlameAssumption(trace.AssumeClock), script: `
			0s  c1 shows wall=0s monotonic=0s
			0s  c1 acquires rank=1 ends=5s
			4s  c1 extends ends=34s
			20s c1 shows wall=5s monotonic=20s` + again},
		{name: "a renewal by the lock itself whose end the clock put off", want: Violated, blame: BlameAssumption(trace.AssumeClock), script: `
			0s  c1 shows wall=0s monotonic=0s
			0s  c1 acquires rank=1 ends=5s
			4s  c1 extended ends=34s
			20s c1 shows wall=5s monotonic=20s` + again},
		{name: "a node lost a key as well, but the key had expired anyway", want: Violated, blame: BlameAssumption(trace.AssumeClock), script: `
			lock L ttl=30s nodes=C quorum=1
			0s  c1 shows wall=0s monotonic=0s
			0s  c1 calls
			0s  C sets by=c1/1 ttl=30s
			1s  c1 acquires rank=1 ends=30s
			5s  C forgets of=c1/1
			20s c1 shows wall=5s monotonic=20s` + again},

		{name: "the clock did no harm: the other was granted it while the lease was due", want: Violated, blame: BlameLock, script: `
			0s  c1 shows wall=0s monotonic=0s
			0s  c1 calls
			1s  c1 acquires rank=1 ends=30s
			20s c1 shows wall=5s monotonic=20s
			29s c2 acquires rank=2 ends=70s <--`},
		{name: "the same, and a node had lost a key", want: Violated, blame: BlameAssumption(trace.AssumeLockMemory), script: `
			lock L ttl=30s nodes=C quorum=1
			0s  c1 shows wall=0s monotonic=0s
			0s  c1 calls
			0s  C sets by=c1/1 ttl=30s
			1s  c1 acquires rank=1 ends=30s
			5s  C forgets of=c1/1
			20s c1 shows wall=5s monotonic=20s
			29s c2 acquires rank=2 ends=70s <--`},
		{name: "the lock did not look how long it had waited", want: Violated, blame: BlameLock, script: `
			0s  c1 shows wall=0s monotonic=0s
			0s  c1 calls
			35s c1 acquires rank=1 ends=65s` + again},
		{name: "nor would a good clock have helped", want: Violated, blame: BlameLock, script: `
			0s  c1 shows wall=0s monotonic=0s
			0s  c1 calls
			10s c1 shows wall=9s monotonic=10s
			35s c1 acquires rank=1 ends=64s` + again},
		{name: "another clock of the machine jumped back", want: Violated, blame: BlameLock, script: `
			0s  c1 shows wall=0s monotonic=0s
			0s  c1 calls
			20s c1 shows wall=5s monotonic=20s
			35s c1 acquires rank=1 ends=65s monotonic` + again},
		{name: "a lock that reads true time", want: Violated, blame: BlameLock, script: `
			lock L ttl=30s true-time
			0s  c1 shows wall=0s monotonic=0s
			0s  c1 calls
			20s c1 shows wall=5s monotonic=20s
			35s c1 acquires rank=1 ends=65s` + again},
		{name: "a lock that says nothing of its end", want: Violated, blame: BlameLock, script: `
			lock L ttl=50s
			0s  c1 shows wall=0s monotonic=0s
			0s  c1 calls
			1s  c1 acquires rank=1
			20s c1 shows wall=5s monotonic=20s` + again},
		{name: "extended when it had been granted to another", want: Violated, blame: BlameLock, script: `
			0s  c1 shows wall=0s monotonic=0s
			0s  c1 acquires rank=1 ends=30s
			20s c1 shows wall=20s monotonic=20s halted
			35s c1 shows wall=35s monotonic=20s
			36s c2 acquires rank=2 ends=66s
			40s c1 extends ends=70s <--`},
	})
}

// The lock is to blame if acquire returned success although no server had made the grant.
// An "ungranted" acquire is one during which no slot of the lock changed.
func TestWhoseFaultAGrantByNobodyIs(t *testing.T) {
	judgeAll(t, LeaseExclusion, []judgement{
		{name: "both acquired the lock without a grant", want: Violated, blame: BlameLock,
			reasonParts: []string{"an acquire of c1 and c2 returned success although no node had granted the lock"}, script: `
			0s c1 acquires rank=1 ends=30s ungranted
			1s c2 acquires rank=2 ends=31s ungranted <--`},
		{name: "one was, whatever the nodes had lost", want: Violated, blame: BlameLock,
			reasonParts: []string{"an acquire of c2 returned success although no node had granted the lock"}, script: `
			lock L ttl=30s nodes=C quorum=1
			0s C sets by=c1/1 ttl=30s
			0s c1 acquires rank=1 ends=30s
			1s C crashes
			2s C restarts
			2s C forgets of=c1/1
			3s c2 acquires rank=2 ends=33s ungranted <--`},
		{name: "a master granted it that had been replaced", want: Violated, blame: BlameAssumption(trace.AssumeLockMemory), script: `
			lock L ttl=30s nodes=C quorum=1
			0s R replaces C
			0s R sets by=c1/1 ttl=30s
			0s c1 acquires rank=1 ends=30s
			1s C sets by=c2/1 ttl=30s
			2s c2 acquires rank=2 ends=32s ungranted <--`},
		{name: "a master that had been replaced granted it, and no node granted the other", want: Violated, blame: BlameLock,
			reasonParts: []string{"an acquire of c1 returned success although no node had granted the lock"}, script: `
			lock L ttl=30s nodes=C quorum=1
			0s c1 acquires rank=1 ends=30s ungranted
			0s R replaces C
			1s C sets by=c2/1 ttl=30s
			2s c2 acquires rank=2 ends=32s ungranted <--`},
		{name: "a master granted it that was replaced later", want: Violated, blame: BlameLock, script: `
			lock L ttl=30s nodes=C quorum=1
			0s C sets by=c1/1 ttl=30s
			0s c1 acquires rank=1 ends=30s
			1s c2 acquires rank=2 ends=31s ungranted <--
			2s R replaces C`},
		{name: "the node's clock ran ahead, by which the lock ends its keys", want: Violated, blame: BlameAssumption(trace.AssumeClock), script: `
			0s C shows wall=40s why=jump
			1s c1 acquires rank=1 ends=31s ungranted
			2s c2 acquires rank=2 ends=32s ungranted <--`},
		{name: "a key lived for as long as the clock that ran ahead left of its TTL", want: Violated, blame: BlameAssumption(trace.AssumeClock), script: `
			0s C shows wall=28s why=jump
			1s C sets by=c1/1 ttl=2s
			1s c1 acquires rank=1 ends=31s
			3s C expires of=c1/1
			4s C sets by=c2/1 ttl=2s
			4s c2 acquires rank=2 ends=34s <--`},
		{name: "a key lived for less than its TTL though no clock was wrong", want: Violated, blame: BlameLock, script: `
			1s C sets by=c1/1 ttl=2s
			1s c1 acquires rank=1 ends=31s
			3s C expires of=c1/1
			4s C sets by=c2/1 ttl=2s
			4s c2 acquires rank=2 ends=34s <--`},
		{name: "it had ended", want: Holds, script: `
			0s  c1 acquires rank=1 ends=30s ungranted
			30s c2 acquires rank=2 ends=60s`},
	})
}

// If a lock does not declare where it keeps its grants, it is not known whether a server
// made a grant.
func TestAGrantThatNobodyCanWatch(t *testing.T) {
	f := Check(history.New(parseScript(t, `
		lock L ttl=30s unwatched
		0s c1 acquires rank=1 ends=30s ungranted
		1s c2 acquires rank=2 ends=31s ungranted`).trace), nil).Finding(LeaseExclusion)
	if f.Blame != BlameLock || strings.Contains(sentence(f.Reason), "no node had granted the lock") {
		t.Errorf("it is blamed on %q: %s", f.Blame, f.Reason)
	}
}

// The lock is not blamed if a client that takes part in a violation had done something
// while it was paused, before the violation.
func TestNobodyIsBlamedForWhatRanOn(t *testing.T) {
	s := parseScript(t, `
		0s  c1 acquires rank=1 ends=30s
		5s  c1 runs-on
		20s c2 acquires rank=2 ends=50s`)
	v := Check(history.New(s.trace), nil)
	if f := v.Finding(LeaseExclusion); f.Outcome != Violated || !f.Blame.IsZero() || !v.RanOn {
		t.Errorf("got %s by %q, ran on %v", f.Outcome, f.Blame, v.RanOn)
	}
	s = parseScript(t, `
		0s  c1 acquires rank=1 ends=30s
		20s c2 acquires rank=2 ends=50s
		25s c1 runs-on
		25s c3 runs-on`)
	if f := Check(history.New(s.trace), nil).Finding(LeaseExclusion); f.Blame != BlameLock {
		t.Errorf("what ran on afterwards, or has no part in it, excuses the lock: the fault is %q", f.Blame)
	}
}

// If the lock is granted to every client, nobody is to blame for what follows.
func TestNobodyIsBlamedWhereEveryClientIsGrantedTheLock(t *testing.T) {
	f := Check(history.New(parseScript(t, `
		lock L ttl=30s open
		0s c1 acquires rank=1 ends=30s
		1s c2 acquires rank=2 ends=31s`).trace), nil).Finding(SectionExclusion)
	if f.Outcome != Violated || !f.Blame.IsZero() || !strings.Contains(sentence(f.Reason), "every client enters its section") {
		t.Errorf("got %s by %q: %s", f.Outcome, f.Blame, f.Reason)
	}
}

// If two sections overlap although their leases do not, the overlap is inherent, unless the
// lock had to notify a client.
func TestWhoseFaultASectionOverlapIs(t *testing.T) {
	judgeAll(t, SectionExclusion, []judgement{
		{name: "the leases are disjoint", want: Violated, blame: BlameInherent, script: `
			0s  c1 acquires rank=1 ends=30s
			30s c2 acquires rank=2 ends=60s <--`},
		{name: "the leases overlap too", want: Violated, blame: BlameLock, script: `
			0s  c1 acquires rank=1 ends=30s
			29s c2 acquires rank=2 ends=60s <--`},
		{name: "the leases overlap because a node broke an assumption", want: Violated, blame: BlameAssumption(trace.AssumeClock), script: `
			lock L ttl=30s nodes=C quorum=1
			0s  C sets by=c1/1 ttl=30s
			0s  c1 acquires rank=1 ends=30s
			20s C expires of=c1/1
			29s c2 acquires rank=2 ends=60s <--`},
		{name: "a machine was suspended while it waited for the grant", want: Violated, blame: BlameAssumption(trace.AssumeProcess), script: `
			0s  c1 shows wall=0s monotonic=0s
			0s  c1 calls
			1s  c1 shows wall=1s monotonic=1s halted
			40s c2 acquires rank=2 ends=70s
			50s c1 shows wall=50s monotonic=1s
			51s c1 acquires rank=1 ends=30s monotonic <--`},
		{name: "a client goes ahead without the lock after the lease", want: Violated, blame: BlameInherent, script: `
			0s  c1 acquires rank=1 ends=30s
			30s c2 acquires rank=2 ends=60s ungranted <--`},
		{name: "an extension had ended when extend returned success", want: Violated, blame: BlameLock,
			reasonParts: []string{"at 50s c1's lease was extended, but the new lease had already ended at 40s"}, script: `
			0s  c1 acquires rank=1 ends=30s
			41s c2 acquires rank=2 ends=71s <--
			50s c1 extends ends=40s`},
		{name: "it ended only afterwards", want: Violated, blame: BlameInherent, script: `
			0s  c1 acquires rank=1 ends=30s
			39s c1 extends ends=40s
			41s c2 acquires rank=2 ends=71s <--`},
		{name: "it took back what had been promised", want: Violated, blame: BlameInherent, script: `
			0s  c1 acquires rank=1 ends=30s
			20s c1 extends ends=19s
			41s c2 acquires rank=2 ends=71s <--`},
		{name: "a lease had ended when it was granted", want: Violated, blame: BlameLock, reasonParts: []string{"c1's acquire returned a lease that had already ended"}, script: `
			0s  c1 calls
			40s c2 acquires rank=2 ends=70s
			41s c1 acquires rank=1 ends=30s <--`},
	})
}
