package checks

import (
	"strings"
	"testing"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// The cases differ in what the nodes did with c1's keys before c2 was granted the lock. The
// scripts of this file are traces written by hand; see [script]. "C expires of=c1/1" means that
// the key that c1 set in its first section expires on node C. The line with "<--" is the one
// with which the property breaks. Nodes R, S and T are replicas.
func TestBlameForLeaseOverlap(t *testing.T) {
	const (
		c1Granted = `
			0s  c1 calls
			0s  A sets by=c1/1 ttl=30s
			0s  B sets by=c1/1 ttl=30s
			0s  C sets by=c1/1 ttl=30s
			1s  c1 acquires rank=1 ends=30s`
		c2Granted = `
			20s c2 calls
			20s C sets by=c2/1 ttl=30s value=value-2
			20s D sets by=c2/1 ttl=30s value=value-2
			20s E sets by=c2/1 ttl=30s value=value-2
			21s c2 acquires rank=2 ends=50s <--`
		c2GrantedByReplica = `
			20s c2 calls
			20s R sets by=c2/1 ttl=30s value=value-2
			20s D sets by=c2/1 ttl=30s value=value-2
			20s E sets by=c2/1 ttl=30s value=value-2
			21s c2 acquires rank=2 ends=50s <--`
	)
	judgeAll(t, LeaseExclusion, []judgement{
		{name: "every node kept every key", want: Violated, blame: BlameLock, script: c1Granted + `
			19s C deletes by=c1/1 of=c1/1` + c2Granted},
		{name: "a node's clock ended a key early", want: Violated, blame: BlameAssumption(trace.AssumeClock), script: c1Granted + `
			19s C expires of=c1/1` + c2Granted},
		{name: "a key of c1 on a fourth node ended when it was due", want: Violated, blame: BlameLock, script: `
			-12s C sets by=c3/1 ttl=30s key=L` + c1Granted + `
			19s  D sets by=c1/1 ttl=500ms
			19s  D touches by=c1/1 of=c1/1 ttl=200ms
			19200ms D expires of=c1/1` + c2Granted},
		{name: "a key that had been renewed ended early", want: Violated, blame: BlameAssumption(trace.AssumeClock), script: c1Granted + `
			10s C touches by=c1/1 of=c1/1 ttl=15s
			19s C expires of=c1/1` + c2Granted},
		{name: "a node forgot a key in a crash", want: Violated, blame: BlameAssumption(trace.AssumeLockMemory), script: c1Granted + `
			10s C crashes
			15s C restarts
			15s C forgets of=c1/1` + c2Granted},
		{name: "a node forgot a key that would have expired when c2 was granted the lock", want: Violated, blame: BlameLock, script: c1Granted + `
			9s  C touches by=c1/1 of=c1/1 ttl=12s
			10s C crashes
			15s C restarts
			15s C forgets of=c1/1` + c2Granted},
		{name: "a node forgot a key that would have expired just after c2 was granted the lock", want: Violated, blame: BlameAssumption(trace.AssumeLockMemory), script: c1Granted + `
			9s  C touches by=c1/1 of=c1/1 ttl=12001ms
			10s C crashes
			15s C restarts
			15s C forgets of=c1/1` + c2Granted},
		{name: "a node restored a key with a shorter life from its disk", want: Violated, blame: BlameAssumption(trace.AssumeLockMemory), script: c1Granted + `
			10s C crashes
			15s C restarts
			15s C restores of=c1/1 ttl=1s` + c2Granted},
		{name: "a node restored a key with a longer life from its disk", want: Violated, blame: BlameLock, script: c1Granted + `
			10s C crashes
			15s C restarts
			15s C restores of=c1/1 ttl=99s` + c2Granted},
		{name: "a replica without the key was promoted", want: Violated, blame: BlameAssumption(trace.AssumeLockMemory), script: c1Granted + `
			10s C crashes
			15s R replaces C` + c2Granted},
		{name: "a replica with the key was promoted", want: Violated, blame: BlameLock, script: c1Granted + `
			2s  R restores of=c1/1 ttl=28s
			10s C crashes
			15s R replaces C` + c2Granted},
		{name: "a replica of another node was promoted", want: Violated, blame: BlameLock, script: c1Granted + `
			10s D crashes
			15s R replaces D` + c2Granted},
		{name: "a master forgot the key after its replica had replaced it", want: Violated, blame: BlameLock, script: c1Granted + `
			2s  R restores of=c1/1 ttl=28s
			9s  R replaces C
			10s C forgets of=c1/1` + c2GrantedByReplica},
		{name: "a master renewed the key after its replica had replaced it", want: Violated, blame: BlameAssumption(trace.AssumeLockMemory), script: c1Granted + `
			2s  R restores of=c1/1 ttl=15s
			9s  R replaces C
			10s C touches by=c1/1 of=c1/1 ttl=30s` + c2Granted},
		{name: "a master renewed the key, and is replaced before its replica received the renewal", want: Violated, blame: BlameAssumption(trace.AssumeLockMemory), script: c1Granted + `
			2s  R restores of=c1/1 ttl=15s
			9s  C touches by=c1/1 of=c1/1 ttl=30s
			10s R replaces C` + c2Granted},
		{name: "a master renewed the key, and is replaced after its replica received the renewal", want: Violated, blame: BlameLock, script: c1Granted + `
			2s  R restores of=c1/1 ttl=15s
			9s  C touches by=c1/1 of=c1/1 ttl=30s
			10s R restores of=c1/1 ttl=29s
			11s R replaces C` + c2GrantedByReplica},
		{name: "a master renewed the key, and is replaced after c2 was granted the lock", want: Violated, blame: BlameLock, script: c1Granted + `
			2s  R restores of=c1/1 ttl=15s
			9s  C touches by=c1/1 of=c1/1 ttl=30s` + c2Granted + `
			22s R replaces C`},
		{name: "a replaced master renewed a key that is not the lock's", want: Violated, blame: BlameLock, script: c1Granted + `
			1s  C sets by=c1/1 ttl=30s key=other
			2s  R restores of=c1/1 ttl=28s
			9s  R replaces C
			10s C touches by=c1/1 of=c1/1 ttl=30s key=other` + c2GrantedByReplica},
		{name: "a node forgot a key without an end", want: Violated, blame: BlameAssumption(trace.AssumeLockMemory), script: c1Granted + `
			2s  C sets by=c1/1
			19s C forgets of=c1/1` + c2Granted},
		{name: "a replica that is not promoted lost the key", want: Violated, blame: BlameLock, script: c1Granted + `
			2s  R restores of=c1/1 ttl=28s
			10s R forgets of=c1/1` + c2Granted},
		{name: "a promoted replica lost the key", want: Violated, blame: BlameAssumption(trace.AssumeLockMemory), script: c1Granted + `
			2s  R restores of=c1/1 ttl=28s
			9s  R replaces C
			10s R forgets of=c1/1` + c2Granted},
		{name: "one node's clock ended a key early, and another node forgot its key", want: Violated, blame: BlameAssumption(trace.AssumeClock, trace.AssumeLockMemory), script: c1Granted + `
			9s  B expires of=c1/1
			10s C forgets of=c1/1` + c2Granted},
		{name: "one node's clock ended the holder's key early, and another forgot another client's key", want: Violated, blame: BlameAssumption(trace.AssumeClock), script: c1Granted + `
			2s  D sets by=c3/1 ttl=30s
			3s  D forgets of=c3/1
			10s C expires of=c1/1` + c2Granted},
		{name: "a node forgot another client's key only", want: Violated, blame: BlameLock, script: c1Granted + `
			2s  D sets by=c3/1 ttl=30s
			3s  D forgets of=c3/1` + c2Granted},
		{name: "a node forgot the key after c2 was granted the lock", want: Violated, blame: BlameLock, script: c1Granted + c2Granted + `
			22s A forgets of=c1/1`},
		{name: "a node forgot a key that is not the lock's", want: Violated, blame: BlameLock, script: c1Granted + `
			2s  A sets by=c1/1 ttl=30s key=other
			3s  A forgets of=c1/1 key=other` + c2Granted},
	})
}

// A lease needs a quorum. If one node of five did not keep a key that was renewed on it, no
// other client can be granted the lock. R, S and T are replicas of A, B and C that have not
// received the renewal. A does not know that R has replaced it. A case is named by the nodes
// that are replaced, including A.
func TestBlameForLeaseExtendedOnReplacedNodes(t *testing.T) {
	const (
		c1OnFiveNodes = `
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
		renewed = `
			9s  A touches by=c1/1 of=c1/1 ttl=30s
			9s  B touches by=c1/1 of=c1/1 ttl=30s
			9s  C touches by=c1/1 of=c1/1 ttl=30s
			9s  D touches by=c1/1 of=c1/1 ttl=30s
			9s  E touches by=c1/1 of=c1/1 ttl=30s
			9s  c1 extends ends=39s`
		extended  = c1OnFiveNodes + renewed
		c2Granted = `
			20s c2 calls
			20s c2 acquires rank=2 ends=50s <--`
	)
	lostRenewal := BlameAssumption(trace.AssumeLockMemory)
	judgeAll(t, LeaseExclusion, []judgement{
		{name: "one of five nodes replaced", want: Violated, blame: BlameLock, script: extended + c2Granted},
		{name: "two of five nodes replaced", want: Violated, blame: BlameLock, script: extended + `
			10s S replaces B` + c2Granted},
		{name: "three of five nodes replaced", want: Violated, blame: lostRenewal, script: extended + `
			10s S replaces B
			11s T replaces C` + c2Granted},
		{name: "three of five nodes replaced, but the third replica received the renewal in time", want: Violated, blame: BlameLock, script: extended + `
			10s S replaces B
			10s T restores of=c1/1 ttl=29s
			11s T replaces C` + c2Granted},
		{name: "three of five nodes replaced, but the client renewed the key on the third replica itself", want: Violated, blame: BlameLock, script: extended + `
			10s S replaces B
			11s T replaces C
			12s T touches by=c1/1 of=c1/1 ttl=30s` + c2Granted},
		{name: "three of five nodes replaced, but the third only after c2 was granted the lock", want: Violated, blame: BlameLock, script: extended + `
			10s S replaces B` + c2Granted + `
			21s T replaces C`},
		{name: "one of the three nodes that granted the lock replaced", want: Violated, blame: lostRenewal, script: `
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
			9s  c1 extends ends=39s` + c2Granted},
		{name: "one of five nodes replaced, and the client released its keys on two others", want: Violated, blame: lostRenewal, script: extended + `
			10s D deletes by=c1/1 of=c1/1
			10s E deletes by=c1/1 of=c1/1` + c2Granted},
		{name: "one of five nodes replaced, and another client removed the keys on two others", want: Violated, blame: BlameLock, script: extended + `
			10s D deletes by=c2/1 of=c1/1
			10s E deletes by=c2/1 of=c1/1` + c2Granted},
		{name: "one of five nodes replaced, and two others forgot their keys", want: Violated, blame: lostRenewal, script: extended + `
			10s D crashes
			11s D restarts
			11s D forgets of=c1/1
			12s E crashes
			13s E restarts
			13s E forgets of=c1/1` + c2Granted},
		{name: "three of five nodes replaced, but the renewed keys expire when c2 is granted the lock", want: Violated, blame: BlameLock, script: c1OnFiveNodes + `
			9s  A touches by=c1/1 of=c1/1 ttl=11s
			9s  B touches by=c1/1 of=c1/1 ttl=11s
			9s  C touches by=c1/1 of=c1/1 ttl=11s
			9s  c1 extends ends=39s
			10s S replaces B
			11s T replaces C` + c2Granted},
		{name: "three of five nodes replaced, and the renewed keys expire just after c2 is granted the lock", want: Violated, blame: lostRenewal, script: c1OnFiveNodes + `
			9s  A touches by=c1/1 of=c1/1 ttl=11001ms
			9s  B touches by=c1/1 of=c1/1 ttl=11001ms
			9s  C touches by=c1/1 of=c1/1 ttl=11001ms
			9s  c1 extends ends=39s
			10s S replaces B
			11s T replaces C` + c2Granted},
		{name: "the only node replaced", want: Violated, blame: lostRenewal, script: `
			lock L ttl=30s nodes=A quorum=1
			0s  c1 calls
			0s  A sets by=c1/1 ttl=15s
			1s  c1 acquires rank=1 ends=15s
			2s  R restores of=c1/1 ttl=13s
			8s  R replaces A
			9s  A touches by=c1/1 of=c1/1 ttl=30s
			9s  c1 extends ends=39s` + c2Granted},
		{name: "the only node replaced, and then its replica by one that had not received the renewal", want: Violated, blame: lostRenewal, script: `
			lock L ttl=30s nodes=A quorum=1
			0s  c1 calls
			0s  A sets by=c1/1 ttl=15s
			1s  c1 acquires rank=1 ends=15s
			2s  R restores of=c1/1 ttl=13s
			2s  S restores of=c1/1 ttl=13s
			8s  R replaces A
			9s  R touches by=c1/1 of=c1/1 ttl=30s
			9s  c1 extends ends=39s
			10s S replaces R` + c2Granted},
	})
}

// If one or two of five nodes lose their keys, no other client can be granted the lock,
// because three nodes still hold theirs. A lock that grants it nevertheless is to blame. A
// client with keys on only three nodes loses its quorum with one of them.
func TestBlameForLeaseWithLostKeys(t *testing.T) {
	const (
		c1OnFiveNodes = `
			0s  c1 calls
			0s  A sets by=c1/1 ttl=30s
			0s  B sets by=c1/1 ttl=30s
			0s  C sets by=c1/1 ttl=30s
			0s  D sets by=c1/1 ttl=30s
			0s  E sets by=c1/1 ttl=30s
			1s  c1 acquires rank=1 ends=30s`
		c2Granted = `
			20s c2 calls
			20s c2 acquires rank=2 ends=50s <--`
	)
	forgot, clock := trace.AssumeLockMemory, trace.AssumeClock
	judgeAll(t, LeaseExclusion, []judgement{
		{name: "one of five nodes lost its key", want: Violated, blame: BlameLock, script: c1OnFiveNodes + `
			10s A forgets of=c1/1` + c2Granted},
		{name: "two of five nodes lost their keys", want: Violated, blame: BlameLock, script: c1OnFiveNodes + `
			10s A forgets of=c1/1
			11s B expires of=c1/1` + c2Granted},
		{name: "three of five nodes lost their keys", want: Violated, blame: BlameAssumption(forgot), script: c1OnFiveNodes + `
			10s A forgets of=c1/1
			11s B forgets of=c1/1
			12s C forgets of=c1/1` + c2Granted},
		{name: "three of five nodes lost their keys, each in another way", want: Violated, blame: BlameAssumption(clock, forgot, trace.AssumeNetwork), script: c1OnFiveNodes + `
			10s A forgets of=c1/1
			11s B expires of=c1/1
			12s C drops of=c1/1` + c2Granted},
		{name: "three of five nodes lost their keys, the third after c2 was granted the lock", want: Violated, blame: BlameLock, script: c1OnFiveNodes + `
			10s A forgets of=c1/1
			11s B forgets of=c1/1` + c2Granted + `
			21s C forgets of=c1/1`},
		{name: "two of five nodes lost their keys, and another client removed the third", want: Violated, blame: BlameLock, script: c1OnFiveNodes + `
			10s A forgets of=c1/1
			11s B forgets of=c1/1
			12s C deletes by=c2/1 of=c1/1` + c2Granted},
		{name: "two of five nodes lost their keys, and the client had released the third itself", want: Violated, blame: BlameAssumption(forgot), script: c1OnFiveNodes + `
			9s  C deletes by=c1/1 of=c1/1
			10s A forgets of=c1/1
			11s B forgets of=c1/1` + c2Granted},
		{name: "three of five nodes lost their keys, and the client set the third again", want: Violated, blame: BlameLock, script: c1OnFiveNodes + `
			10s A forgets of=c1/1
			11s B forgets of=c1/1
			12s C forgets of=c1/1
			13s C sets by=c1/1 ttl=30s` + c2Granted},
		{name: "three of five nodes lost their keys, and the third, set again, lost it again", want: Violated, blame: BlameAssumption(clock, forgot), script: c1OnFiveNodes + `
			10s A forgets of=c1/1
			11s B forgets of=c1/1
			12s C forgets of=c1/1
			13s C sets by=c1/1 ttl=30s
			14s C expires of=c1/1` + c2Granted},
		{name: "three of five nodes lost their keys, and the client set the third again and released it", want: Violated, blame: BlameAssumption(forgot), script: c1OnFiveNodes + `
			10s A forgets of=c1/1
			11s B forgets of=c1/1
			12s C expires of=c1/1
			13s C sets by=c1/1 ttl=30s
			14s C deletes by=c1/1 of=c1/1` + c2Granted},
		{name: "three of five nodes lost their keys, and the client set the third again for only a second", want: Violated, blame: BlameAssumption(forgot), script: c1OnFiveNodes + `
			10s A forgets of=c1/1
			11s B forgets of=c1/1
			12s C expires of=c1/1
			13s C sets by=c1/1 ttl=1s
			14s C expires of=c1/1` + c2Granted},
		{name: "three of five nodes lost their keys, and the third restored it for longer than until c2 was granted the lock", want: Violated, blame: BlameLock, script: c1OnFiveNodes + `
			10s A forgets of=c1/1
			11s B forgets of=c1/1
			12s C crashes
			13s C restarts
			13s C restores of=c1/1 ttl=7001ms` + c2Granted},
		{name: "three of five nodes lost their keys, and the third restored it only until c2 was granted the lock", want: Violated, blame: BlameAssumption(forgot), script: c1OnFiveNodes + `
			10s A forgets of=c1/1
			11s B forgets of=c1/1
			12s C crashes
			13s C restarts
			13s C restores of=c1/1 ttl=7s` + c2Granted},
		{name: "one of four nodes lost its key, and the fifth never had one", want: Violated, blame: BlameLock, script: `
			0s  c1 calls
			0s  A sets by=c1/1 ttl=30s
			0s  B sets by=c1/1 ttl=30s
			0s  C sets by=c1/1 ttl=30s
			0s  D sets by=c1/1 ttl=30s
			1s  c1 acquires rank=1 ends=30s
			10s A forgets of=c1/1` + c2Granted},
		{name: "one of two nodes lost its key, and two are no quorum", want: Violated, blame: BlameLock, script: `
			0s  c1 calls
			0s  A sets by=c1/1 ttl=30s
			0s  B sets by=c1/1 ttl=30s
			1s  c1 acquires rank=1 ends=30s
			10s A forgets of=c1/1` + c2Granted},
		{name: "one of five nodes replaced by a replica without the key, and one forgot its key", want: Violated, blame: BlameLock, script: c1OnFiveNodes + `
			10s R replaces A
			11s B forgets of=c1/1` + c2Granted},
		{name: "one of five nodes replaced by a replica without the key, one forgot its key, and the clock of one ran ahead", want: Violated, blame: BlameAssumption(clock, forgot), script: c1OnFiveNodes + `
			10s R replaces A
			11s B forgets of=c1/1
			12s C expires of=c1/1` + c2Granted},
		{name: "a node lost the key of the client whose acquire returns second", want: Violated, blame: BlameAssumption(forgot), script: `
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
		{name: "c2's grant by three masters, one of which had been replaced", want: Violated, blame: BlameAssumption(forgot), script: c1OnFiveNodes + `
			2s  R restores of=c1/1 ttl=28s
			9s  R replaces A
			20s c2 calls
			20s A sets by=c2/1 ttl=30s value=value-2
			20s B sets by=c2/1 ttl=30s value=value-2
			20s C sets by=c2/1 ttl=30s value=value-2
			20s c2 acquires rank=2 ends=50s <--`},
		{name: "c2's grant by four masters, one of which had been replaced, so that three remain", want: Violated, blame: BlameLock, script: c1OnFiveNodes + `
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
func TestBlameForLeaseThatAClientsClockMadeLonger(t *testing.T) {
	const c2Granted = `
		40s c2 calls
		40s c2 acquires rank=2 ends=70s <--`
	judgeAll(t, LeaseExclusion, []judgement{
		{name: "the wall clock jumped back while c1 held the lock", want: Violated, blame: BlameAssumption(trace.AssumeClock), script: `
			0s  c1 shows wall=0s monotonic=0s
			0s  c1 calls
			1s  c1 acquires rank=1 ends=30s
			20s c1 shows wall=5s monotonic=20s` + c2Granted},
		{name: "the wall clock jumped back while c1 waited for the grant", want: Violated, blame: BlameAssumption(trace.AssumeClock), script: `
			0s  c1 shows wall=0s monotonic=0s
			0s  c1 calls
			20s c1 shows wall=5s monotonic=20s
			21s c1 acquires rank=1 ends=30s` + c2Granted},
		{name: "the wall clock jumped back while c1 waited for the grant, and c2 was granted the lock first", want: Violated, blame: BlameAssumption(trace.AssumeClock), script: `
			0s  c1 shows wall=0s monotonic=0s
			0s  c1 calls
			20s c1 shows wall=5s monotonic=20s
			40s c2 calls
			40s c2 acquires rank=2 ends=70s
			41s c1 acquires rank=1 ends=30s <--`},
		{name: "the clocks were slow from the start", want: Violated, blame: BlameAssumption(trace.AssumeClock), script: `
			0s  c1 shows wall=0s monotonic=0s ppb=-500000000
			0s  c1 calls
			1s  c1 acquires rank=1 ends=30s monotonic` + c2Granted},
		{name: "the machine was suspended while c1 waited for the grant", want: Violated, blame: BlameAssumption(trace.AssumeProcess), script: `
			0s  c1 shows wall=0s monotonic=0s
			0s  c1 calls
			1s  c1 shows wall=1s monotonic=1s halted
			35s c1 shows wall=35s monotonic=1s
			36s c1 acquires rank=1 ends=30s monotonic` + c2Granted},
		{name: "the machine is suspended while c1 holds the lock, and never resumes", want: Violated, blame: BlameAssumption(trace.AssumeProcess), script: `
			0s  c1 shows wall=0s monotonic=0s
			0s  c1 calls
			1s  c1 acquires rank=1 ends=30s
			20s c1 shows wall=20s monotonic=20s halted` + c2Granted},
		{name: "the clocks were slow, and the machine was suspended", want: Violated, blame: BlameAssumption(trace.AssumeClock, trace.AssumeProcess), script: `
			0s  c1 shows wall=0s monotonic=0s
			0s  c1 calls
			1s  c1 acquires rank=1 ends=30s monotonic
			2s  c1 shows wall=2s monotonic=2s ppb=-500000000
			20s c1 shows wall=11s monotonic=11s halted
			21s c1 shows wall=12s monotonic=11s ppb=-500000000` + c2Granted},
		{name: "the clocks were slow, and the machine was suspended after c2 was granted the lock", want: Violated, blame: BlameAssumption(trace.AssumeClock), script: `
			0s  c1 shows wall=0s monotonic=0s ppb=-500000000
			0s  c1 calls
			1s  c1 acquires rank=1 ends=30s monotonic` + c2Granted + `
			41s c1 shows wall=20s monotonic=20s halted`},
		{name: "the clocks were slow, and the machine was suspended before c1 called", want: Violated, blame: BlameAssumption(trace.AssumeClock), script: `
			-9s c1 shows wall=-9s monotonic=-9s halted
			-5s c1 shows wall=-5s monotonic=-9s ppb=-500000000
			-1s c1 calls
			1s  c1 acquires rank=1 ends=23s monotonic` + c2Granted},
		{name: "the wall clock jumped back after an extend", want: Violated, blame: BlameAssumption(trace.AssumeClock), script: `
			0s  c1 shows wall=0s monotonic=0s
			0s  c1 acquires rank=1 ends=5s
			4s  c1 extends ends=34s
			20s c1 shows wall=5s monotonic=20s` + c2Granted},
		{name: "the wall clock jumped back after a renewal by the lock itself", want: Violated, blame: BlameAssumption(trace.AssumeClock), script: `
			0s  c1 shows wall=0s monotonic=0s
			0s  c1 acquires rank=1 ends=5s
			4s  c1 extended ends=34s
			20s c1 shows wall=5s monotonic=20s` + c2Granted},
		{name: "the wall clock jumped back, and a node lost a key that would have expired by then", want: Violated, blame: BlameAssumption(trace.AssumeClock), script: `
			lock L ttl=30s nodes=C quorum=1
			0s  c1 shows wall=0s monotonic=0s
			0s  c1 calls
			0s  C sets by=c1/1 ttl=30s
			1s  c1 acquires rank=1 ends=30s
			5s  C forgets of=c1/1
			20s c1 shows wall=5s monotonic=20s` + c2Granted},

		{name: "the wall clock jumped back, but c2 was granted the lock before the lease's true end", want: Violated, blame: BlameLock, script: `
			0s  c1 shows wall=0s monotonic=0s
			0s  c1 calls
			1s  c1 acquires rank=1 ends=30s
			20s c1 shows wall=5s monotonic=20s
			29s c2 acquires rank=2 ends=70s <--`},
		{name: "the wall clock jumped back, but c2 was granted the lock before the lease's true end because a node had lost a key", want: Violated, blame: BlameAssumption(trace.AssumeLockMemory), script: `
			lock L ttl=30s nodes=C quorum=1
			0s  c1 shows wall=0s monotonic=0s
			0s  c1 calls
			0s  C sets by=c1/1 ttl=30s
			1s  c1 acquires rank=1 ends=30s
			5s  C forgets of=c1/1
			20s c1 shows wall=5s monotonic=20s
			29s c2 acquires rank=2 ends=70s <--`},
		{name: "right clocks, and the lock counts the lease from the return of acquire", want: Violated, blame: BlameLock, script: `
			0s  c1 shows wall=0s monotonic=0s
			0s  c1 calls
			35s c1 acquires rank=1 ends=65s` + c2Granted},
		{name: "a clock slow by a second, and the lock counts the lease from the return of acquire", want: Violated, blame: BlameLock, script: `
			0s  c1 shows wall=0s monotonic=0s
			0s  c1 calls
			10s c1 shows wall=9s monotonic=10s
			35s c1 acquires rank=1 ends=64s` + c2Granted},
		{name: "the wall clock jumped back, but the lease ends by the monotonic clock", want: Violated, blame: BlameLock, script: `
			0s  c1 shows wall=0s monotonic=0s
			0s  c1 calls
			20s c1 shows wall=5s monotonic=20s
			35s c1 acquires rank=1 ends=65s monotonic` + c2Granted},
		{name: "the wall clock jumped back, but the lock reads true time", want: Violated, blame: BlameLock, script: `
			lock L ttl=30s true-time
			0s  c1 shows wall=0s monotonic=0s
			0s  c1 calls
			20s c1 shows wall=5s monotonic=20s
			35s c1 acquires rank=1 ends=65s` + c2Granted},
		{name: "the wall clock jumped back, but the lock declares no end of its lease", want: Violated, blame: BlameLock, script: `
			lock L ttl=50s
			0s  c1 shows wall=0s monotonic=0s
			0s  c1 calls
			1s  c1 acquires rank=1
			20s c1 shows wall=5s monotonic=20s` + c2Granted},
		{name: "c1's machine was suspended, and its lease extended after c2 was granted the lock", want: Violated, blame: BlameLock, script: `
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
func TestBlameForGrantThatNoServerMade(t *testing.T) {
	judgeAll(t, LeaseExclusion, []judgement{
		{name: "both acquired the lock without a grant", want: Violated, blame: BlameLock,
			reasonParts: []string{"acquire returned a lease to c1 and c2, although no node had granted one"}, script: `
			0s c1 acquires rank=1 ends=30s ungranted
			1s c2 acquires rank=2 ends=31s ungranted <--`},
		{name: "c2 acquired the lock without a grant, after the node had forgotten c1's key", want: Violated, blame: BlameLock,
			reasonParts: []string{"acquire returned a lease to c2, although no node had granted one"}, script: `
			lock L ttl=30s nodes=C quorum=1
			0s C sets by=c1/1 ttl=30s
			0s c1 acquires rank=1 ends=30s
			1s C crashes
			2s C restarts
			2s C forgets of=c1/1
			3s c2 acquires rank=2 ends=33s ungranted <--`},
		{name: "a master that had been replaced granted c2 the lock", want: Violated, blame: BlameAssumption(trace.AssumeLockMemory), script: `
			lock L ttl=30s nodes=C quorum=1
			0s R replaces C
			0s R sets by=c1/1 ttl=30s
			0s c1 acquires rank=1 ends=30s
			1s C sets by=c2/1 ttl=30s
			2s c2 acquires rank=2 ends=32s ungranted <--`},
		{name: "a master that had been replaced granted c2 the lock, and no node granted it to c1", want: Violated, blame: BlameLock,
			reasonParts: []string{"acquire returned a lease to c1, although no node had granted one"}, script: `
			lock L ttl=30s nodes=C quorum=1
			0s c1 acquires rank=1 ends=30s ungranted
			0s R replaces C
			1s C sets by=c2/1 ttl=30s
			2s c2 acquires rank=2 ends=32s ungranted <--`},
		{name: "a master is replaced after c2 acquired the lock without a grant", want: Violated, blame: BlameLock, script: `
			lock L ttl=30s nodes=C quorum=1
			0s C sets by=c1/1 ttl=30s
			0s c1 acquires rank=1 ends=30s
			1s c2 acquires rank=2 ends=31s ungranted <--
			2s R replaces C`},
		{name: "both acquired the lock without a grant, and the clock of a node had jumped ahead", want: Violated, blame: BlameAssumption(trace.AssumeClock), script: `
			0s C shows wall=40s why=jump
			1s c1 acquires rank=1 ends=31s ungranted
			2s c2 acquires rank=2 ends=32s ungranted <--`},
		{name: "a key lived for less than its TTL because the clock of its node had jumped ahead", want: Violated, blame: BlameAssumption(trace.AssumeClock), script: `
			0s C shows wall=28s why=jump
			1s C sets by=c1/1 ttl=2s
			1s c1 acquires rank=1 ends=31s
			3s C expires of=c1/1
			4s C sets by=c2/1 ttl=2s
			4s c2 acquires rank=2 ends=34s <--`},
		{name: "a key lived for less than its TTL although no clock was wrong", want: Violated, blame: BlameLock, script: `
			1s C sets by=c1/1 ttl=2s
			1s c1 acquires rank=1 ends=31s
			3s C expires of=c1/1
			4s C sets by=c2/1 ttl=2s
			4s c2 acquires rank=2 ends=34s <--`},
		{name: "c1's lease without a grant had ended before c2 acquired the lock", want: Holds, script: `
			0s  c1 acquires rank=1 ends=30s ungranted
			30s c2 acquires rank=2 ends=60s`},
	})
}

// If a lock does not declare where it keeps its grants, it is not known whether a server
// made a grant.
func TestGrantOfUnwatchedLock(t *testing.T) {
	f := Check(history.New(parseScript(t, `
		lock L ttl=30s unwatched
		0s c1 acquires rank=1 ends=30s ungranted
		1s c2 acquires rank=2 ends=31s ungranted`).trace), nil).Finding(LeaseExclusion)
	if f.Blame != BlameLock || strings.Contains(sentence(f.Reason), "a grant that no node had made") {
		t.Errorf("the blame is %q (%s), want the lock without a word about a grant", f.Blame, f.Reason)
	}
}

// The lock is not blamed if, before a violation, a client that takes part in it did something
// although it was paused.
func TestNoBlameIfAPausedClientRanOn(t *testing.T) {
	s := parseScript(t, `
		0s  c1 acquires rank=1 ends=30s
		5s  c1 runs-on
		20s c2 acquires rank=2 ends=50s`)
	v := Check(history.New(s.trace), nil)
	if f := v.Finding(LeaseExclusion); f.Outcome != Violated || !f.Blame.IsZero() || !v.RanOn {
		t.Errorf("section overlap of a client that ran on: got %s, blame %q, ran on %v; want violated, no blame, true", f.Outcome, f.Blame, v.RanOn)
	}
	s = parseScript(t, `
		0s  c1 acquires rank=1 ends=30s
		20s c2 acquires rank=2 ends=50s
		25s c1 runs-on
		25s c3 runs-on`)
	if f := Check(history.New(s.trace), nil).Finding(LeaseExclusion); f.Blame != BlameLock {
		t.Errorf("c1 ran on after the violation, and c3 has no part in it: the blame is %q, want the lock", f.Blame)
	}
}

// If the lock is granted to every client, nobody is to blame for what follows.
func TestNoBlameIfEveryClientIsGrantedTheLock(t *testing.T) {
	f := Check(history.New(parseScript(t, `
		lock L ttl=30s open
		0s c1 acquires rank=1 ends=30s
		1s c2 acquires rank=2 ends=31s`).trace), nil).Finding(SectionExclusion)
	if f.Outcome != Violated || !f.Blame.IsZero() || !strings.Contains(sentence(f.Reason), "every client enters its section") {
		t.Errorf("got %s, blame %q: %s; want violated, no blame, and that every client enters its section", f.Outcome, f.Blame, f.Reason)
	}
}

// If two sections overlap although their leases do not, the overlap is inherent, unless the
// lock had to notify a client.
func TestBlameForSectionOverlap(t *testing.T) {
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
		{name: "a machine was suspended while its client waited for the grant", want: Violated, blame: BlameAssumption(trace.AssumeProcess), script: `
			0s  c1 shows wall=0s monotonic=0s
			0s  c1 calls
			1s  c1 shows wall=1s monotonic=1s halted
			40s c2 acquires rank=2 ends=70s
			50s c1 shows wall=50s monotonic=1s
			51s c1 acquires rank=1 ends=30s monotonic <--`},
		{name: "c2 acquired the lock without a grant after c1's lease had ended", want: Violated, blame: BlameInherent, script: `
			0s  c1 acquires rank=1 ends=30s
			30s c2 acquires rank=2 ends=60s ungranted <--`},
		{name: "an extension had ended when extend returned success", want: Violated, blame: BlameLock,
			reasonParts: []string{"at 50s, c1's lease was extended, but the new lease had already ended at 40s"}, script: `
			0s  c1 acquires rank=1 ends=30s
			41s c2 acquires rank=2 ends=71s <--
			50s c1 extends ends=40s`},
		{name: "an extension ended after extend returned success", want: Violated, blame: BlameInherent, script: `
			0s  c1 acquires rank=1 ends=30s
			39s c1 extends ends=40s
			41s c2 acquires rank=2 ends=71s <--`},
		{name: "an extend declared an earlier end than acquire had", want: Violated, blame: BlameInherent, script: `
			0s  c1 acquires rank=1 ends=30s
			20s c1 extends ends=19s
			41s c2 acquires rank=2 ends=71s <--`},
		{name: "a lease had ended when acquire returned success", want: Violated, blame: BlameLock, reasonParts: []string{"c1's acquire returned a lease that had already ended"}, script: `
			0s  c1 calls
			40s c2 acquires rank=2 ends=70s
			41s c1 acquires rank=1 ends=30s <--`},
	})
}
