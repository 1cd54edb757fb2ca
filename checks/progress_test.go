package checks

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// The scripts are traces written by hand; see [script] for the language. In this file:
//
//   - c1, c2 … are clients, A to E the nodes of lock L, three of which are a quorum, and s1 is a
//     service between the clients and the storage.
//   - "rank" is the grant's position in the order in which a perfect lock service would have
//     granted the lock.
//   - "<--" marks the event with which the property breaks. A violation must be reported there.
//   - "within" is the time limit for progress, counted from the last strike or lift of a fault.
//   - A fault that "strikes" acts until it "lifts", or until the end of the run. "lasting" says
//     that it was meant to end, "instant" that it ends when it strikes. A word such as
//     "stops=A" is the fault's effect; without one, its effect is unknown.
//   - A lock that is "open" is granted to every client that asks. For an "unwatched" lock the
//     trace does not say where it keeps its keys.
func TestProgress(t *testing.T) {
	const works = `
			11s c1 acquires rank=1
			12s c1 writes x=0>1
			13s c1 releases`
	judgeAll(t, Progress, []judgement{
		{name: "a client completes a section", want: Holds, script: works},
		{name: "no client is granted the lock", want: Violated, blame: BlameLock,
			reasonParts: []string{"from the start of the run until 9s no client completed its critical section, although c1 wanted the lock"}, script: `
			0s c1 fails
			9s c1 is-done <--`},
		{name: "a section without a write does not count as completed", want: Violated, script: `
			0s c1 acquires rank=1
			1s c1 reads x=0
			9s c1 releases <--`},
		{name: "a read-only client completes a section with a read", want: Holds, script: `
			read-only c1
			0s c1 acquires rank=1
			1s c1 reads x=0
			9s c1 releases`},
		{name: "a read-only client that reads nothing completes no section", want: Violated, script: `
			read-only c1
			0s c1 acquires rank=1
			9s c1 releases <--`},
		{name: "a section with a refused write does not count as completed", want: Violated, script: `
			0s c1 acquires rank=1
			1s c1 writes x=0>1
			2s c1 is-refused
			9s c1 releases <--`},
		{name: "a section with a write whose answer never arrives does not count as completed", want: Violated, script: `
			0s c1 acquires rank=1
			1s c1 sends message=1
			2s c1 lands message=1 x=0>1
			9s c1 releases <--`},
		{name: "a section that is never released does not count as completed", want: Violated, script: `
			0s c1 acquires rank=1
			1s c1 writes x=0>1 <--`},

		{name: "a section is completed exactly at the end of the time limit", want: Holds, script: `within 8s
			5s fault-1 strikes` + works},
		{name: "a section is completed a nanosecond after the time limit", want: Violated, reasonParts: []string{"from the last fault at 5s until 12.999999999s"}, script: `within 7.999999999s
			5s fault-1 strikes
			11s c1 acquires rank=1
			12s c1 writes x=0>1 <--
			13s c1 releases`},
		{name: "the run ends before a fault is lifted that was meant to end", want: NotApplicable, reasonParts: []string{"the run ended before fault 1 did"}, script: `
			0s fault-1 strikes lasting
			0s fault-2 strikes lasting
			1s fault-2 lifts
			1s c1 fails`},
		{name: "the run is cut off before the fault is lifted, and no client wants the lock", want: NotApplicable, reasonParts: []string{"nobody wanted"}, script: `
			0s c1 acquires rank=1
			1s fault-1 strikes lasting
			2s c1 releases
			3s c1 is-done
			9s c1 is-cut-off`},
		{name: "a fault acts until the end of the run", want: Violated, script: `
			0s fault-1 strikes
			1s c1 fails <--`},
		{name: "the time limit counts from the lift of the last fault", want: Holds, script: `within 4s
			5s fault-1 strikes
			9s fault-1 lifts` + works},
		{name: "a section that began before the last fault was lifted does not count", want: Violated, blame: BlameLock, script: `
			0s fault-1 strikes
			1s c1 acquires rank=1
			2s fault-1 lifts
			3s c1 writes x=0>1
			4s c1 releases
			5s c2 fails <--`},
		{name: "a client that is in its section when the fault is lifted does not want the lock", want: NotApplicable, reasonParts: []string{"nobody wanted"}, script: `
			0s fault-1 strikes
			1s c1 acquires rank=1
			2s fault-1 lifts
			3s c1 writes x=0>1
			4s c1 releases`},
		{name: "a client with a pending acquire wants the lock", want: Violated, script: `
			1s c1 calls
			2s fault-1 strikes
			3s c1 fails
			4s c1 is-done <--`},
		{name: "a client that waits for its next attempt wants the lock", want: Violated, script: `
			1s c1 fails
			2s fault-1 strikes
			9s c1 is-cut-off <--`},
		{name: "a client whose next attempt comes after the time limit wants the lock", want: Violated, script: `within 5s
			1s c1 fails
			2s fault-1 strikes <--
			9s c1 fails
			9s c1 is-done`},
		{name: "a client that has given up does not want the lock", want: NotApplicable, script: `
			1s c1 fails
			2s fault-1 strikes
			3s c1 is-done`},
		{name: "a client that crashed while it waited does not want the lock", want: NotApplicable, script: `
			1s c1 calls
			2s fault-1 strikes
			2s c1 crashes
			9s c2 is-done`},
		{name: "a client that first calls after the time limit does not want the lock", want: NotApplicable, script: `within 5s
			0s fault-1 strikes
			6s c1 fails
			7s c1 is-done`},
		{name: "the run is cut off before the time limit", want: Unknown, reasonParts: []string{"cut off at 20s, before the bound for progress at 25s"}, script: `within 15s
			10s fault-1 strikes
			11s c1 fails
			20s c1 is-cut-off`},
		{name: "the run is cut off exactly at the time limit", want: Violated, script: `within 10s
			10s fault-1 strikes
			11s c1 fails
			20s c1 is-cut-off <--`},
		{name: "the run is cut off with a client in its section", want: Violated, reasonParts: []string{"c1 had not finished"}, script: `
			1s  c1 acquires rank=1
			10s fault-1 strikes
			20s c1 is-cut-off <--`},
		{name: "the run is cut off with only a crashed client", want: NotApplicable, script: `
			1s  c1 acquires rank=1
			10s fault-1 strikes
			11s c1 crashes
			20s c1 is-cut-off`},
		{name: "progress holds for one lock, and the run is cut off before the time limit for the other", want: Unknown, script: `within 15s
			lock M ttl=30s
			10s fault-1 strikes
			11s c2 fails lock=M` + works + `
			20s c1 is-cut-off`},
		{name: "a time limit as long as the run is ignored, and no client completed a section", want: Violated, script: `within 20s
			10s fault-1 strikes
			11s c1 fails
			20s c1 is-cut-off <--`},
		{name: "all clients are done before the time limit", want: Violated, script: `within 15s
			10s fault-1 strikes
			11s c1 fails
			20s c1 is-done <--`},
		{name: "progress with one lock does not count for another lock", want: Violated, reasonParts: []string{"c2"}, script: `
			lock M ttl=30s` + works + `
			20s c2 fails lock=M <--`},
		{name: "no client wants the lock", want: NotApplicable, script: `
			0s c1 is-done`},
		{name: "a world without locks", want: NotApplicable, script: `
			no-lock
			0s c1 writes x=0>1`},
	})
}

// All scripts violate progress; they differ in what is to blame. The zero Blame means that this
// is not known.
func TestBlameForMissingProgress(t *testing.T) {
	for _, test := range []struct {
		name, story string
		want        Blame
	}{
		{"no fault strikes", `
			1s c1 fails`, BlameLock},
		{"the fault has been lifted", `
			0s fault-1 strikes
			1s fault-1 lifts
			1s c1 fails`, BlameLock},
		{"the fault still acts, and its effect is unknown", `
			0s fault-1 strikes
			1s c1 fails`, Blame{}},
		{"one of two faults has been lifted, the other still acts", `
			0s fault-1 strikes
			0s fault-2 strikes
			1s fault-1 lifts
			1s c1 fails`, Blame{}},
		{"a fault without a duration", `
			0s fault-1 strikes instant
			1s c1 fails`, BlameLock},
		{"another client has crashed for good", `
			0s fault-1 strikes stops=c2
			0s c2 crashes
			1s c1 fails`, BlameLock},
		{"another client is paused for good", `
			0s fault-1 strikes stops=c2
			0s c2 pauses
			1s c1 fails`, BlameLock},
		{"another client has crashed for good, and an instant fault struck before the crash", `
			0s fault-1 strikes stops=c2
			0s fault-2 strikes instant
			0s c2 crashes
			1s c1 fails`, BlameLock},
		{"another client has crashed for good, and a second fault with an unknown effect still acts", `
			0s fault-1 strikes stops=c2
			0s c2 crashes
			0s fault-2 strikes
			0s c3 crashes
			1s c1 fails`, Blame{}},
		{"the client that wants the lock is paused", `
			0s c1 calls
			1s fault-1 strikes stops=c1
			1s c1 pauses
			9s c1 is-cut-off`, Blame{}},
		{"the only node loses its power before it answers, so that no reset tells the client", `
			lock L ttl=30s nodes=A quorum=1
			0s c1 calls
			0s c1 commands A
			0s fault-1 strikes instant
			0s A crashes how=power-loss
			1s A restarts
			9s c1 is-cut-off`, Blame{}},
		{"one of five nodes loses its power before it answers", `
			0s c1 calls
			0s c1 commands A
			0s fault-1 strikes instant
			0s A crashes how=power-loss
			1s A restarts
			9s c1 is-cut-off`, BlameLock},
		{"the only node loses its power after it has answered", `
			lock L ttl=30s nodes=A quorum=1
			0s c1 calls
			0s c1 commands A
			0s A answers c1
			0s fault-1 strikes instant
			1s A crashes how=power-loss
			2s A restarts
			9s c1 is-cut-off`, BlameLock},
		{"the process of the only node is killed, so that its machine resets the connection", `
			lock L ttl=30s nodes=A quorum=1
			0s c1 calls
			0s c1 commands A
			0s fault-1 strikes instant
			0s A crashes how=kill
			1s A restarts
			9s c1 is-cut-off`, BlameLock},
		{"the client's machine is suspended during acquire, and its section ends without a write", `
			0s  c1 calls
			0s  fault-1 strikes lasting stops=c1
			0s  c1 shows wall=0s monotonic=0s halted
			20s c1 shows wall=20s monotonic=0s why=resume
			20s fault-1 lifts
			20s c1 acquires rank=1 ends=30s monotonic
			21s c1 releases
			22s c1 is-done`, BlameAssumption(trace.AssumeProcess)},
		{"the client's machine is not suspended during acquire, and its section ends without a write", `
			0s  c1 calls
			0s  fault-1 strikes lasting
			20s fault-1 lifts
			20s c1 acquires rank=1 ends=30s monotonic
			21s c1 releases
			22s c1 is-done`, BlameLock},
		{"the storage does not answer the client that was granted the lock", `
			0s fault-1 strikes instant
			1s c1 acquires rank=1 ends=30s
			2s c1 fails-to-read
			3s c1 releases
			4s c1 is-done`, Blame{}},
		{"a lease ends before its client asks to extend it", `
			0s  fault-1 strikes instant
			1s  c1 acquires rank=1 ends=10s
			1s  c1 starts-to-work
			12s c1 asks-to-extend
			13s c1 fails-to-extend
			13s c1 releases
			14s c1 is-done`, Blame{}},
		{"an extend fails before the lease has ended", `
			0s c1 calls
			0s fault-1 strikes instant
			1s c1 acquires rank=1 ends=30s
			1s c1 starts-to-work
			2s c1 asks-to-extend
			3s c1 fails-to-extend
			3s c1 releases
			4s c1 is-done`, BlameLock},
		{"an extend fails because the only node has lost the key", `
			lock L ttl=30s nodes=A quorum=1
			0s c1 calls
			0s A sets by=c1/1 ttl=30s
			0s fault-1 strikes instant
			1s c1 acquires rank=1 ends=30s
			2s A shows wall=40s why=jump
			2s A expires of=c1/1
			2s c1 starts-to-work
			3s c1 asks-to-extend
			4s c1 fails-to-extend
			4s c1 releases
			5s c1 is-done`, BlameAssumption(trace.AssumeClock)},
		{"an extend fails although only two nodes of five have lost the key", `
			0s c1 calls
			0s A sets by=c1/1 ttl=30s
			0s B sets by=c1/1 ttl=30s
			0s C sets by=c1/1 ttl=30s
			0s D sets by=c1/1 ttl=30s
			0s E sets by=c1/1 ttl=30s
			0s fault-1 strikes instant
			1s c1 acquires rank=1 ends=30s
			2s A expires of=c1/1
			2s B expires of=c1/1
			2s c1 starts-to-work
			3s c1 asks-to-extend
			4s c1 fails-to-extend
			4s c1 releases
			5s c1 is-done`, BlameLock},
		{"an extend fails because three nodes of five have lost the key", `
			0s c1 calls
			0s A sets by=c1/1 ttl=30s
			0s B sets by=c1/1 ttl=30s
			0s C sets by=c1/1 ttl=30s
			0s D sets by=c1/1 ttl=30s
			0s E sets by=c1/1 ttl=30s
			0s fault-1 strikes instant
			1s c1 acquires rank=1 ends=30s
			2s A expires of=c1/1
			2s B forgets of=c1/1
			2s C expires of=c1/1
			2s c1 starts-to-work
			3s c1 asks-to-extend
			4s c1 fails-to-extend
			4s c1 releases
			5s c1 is-done`, BlameAssumption(trace.AssumeClock, trace.AssumeLockMemory)},
		{"no client wants the lock, and a release is never answered", `
			1s c1 acquires rank=1
			2s fault-1 strikes instant
			3s c1 asks-to-release
			9s c1 is-cut-off`, BlameLock},
		{"no client wants the lock, and an extend is never answered while its client works", `
			1s c1 acquires rank=1
			2s fault-1 strikes instant
			3s c1 starts-to-work
			4s c1 asks-to-extend
			9s c1 is-cut-off`, BlameLock},
		{"no client wants the lock, a release is never answered, and a fault still acts", `
			1s c1 acquires rank=1
			2s fault-1 strikes
			3s c1 asks-to-release
			9s c1 is-cut-off`, Blame{}},
		{"no client wants the lock, a release is never answered, and its client is paused", `
			1s c1 acquires rank=1
			3s c1 asks-to-release
			3s fault-1 strikes stops=c1
			3s c1 pauses
			9s c1 is-cut-off`, Blame{}},
		{"no client wants the lock, and its holder never begins its next step", `
			1s c1 acquires rank=1
			2s fault-1 strikes instant
			9s c1 is-cut-off`, Blame{}},
		{"the lock is granted to every client that asks", `
			lock L ttl=30s open
			1s c1 acquires rank=1
			2s c1 releases`, Blame{}},
		{"the storage refuses a write of the client that was granted the lock", `
			1s c1 acquires rank=1
			2s c1 is-refused
			3s c1 releases`, Blame{}},
		{"the storage refuses a read of the client that was granted the lock", `
			1s c1 acquires rank=1
			2s c1 is-refused-a-read
			3s c1 releases`, Blame{}},
		{"the storage refuses a write of the holder of another lock", `
			lock M ttl=30s
			1s c1 fails
			1s c2 acquires rank=1 lock=M
			2s c2 is-refused
			3s c2 releases`, BlameLock},
		{"the storage refuses a write after the time limit", `within 5s
			0s fault-1 strikes instant
			1s c1 acquires rank=1
			7s c1 is-refused
			8s c1 releases`, BlameLock},
		{"the storage refuses a write in a section that began before the last fault", `
			1s c1 acquires rank=1
			2s fault-1 strikes instant
			2s c1 is-refused
			3s c1 releases
			4s c1 fails`, BlameLock},
		{"the client did something while it was paused", `
			1s c1 fails
			2s c1 runs-on`, Blame{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := Check(history.New(parseScript(t, test.story).trace), nil).Finding(Progress)
			if f.Outcome != Violated || f.Blame != test.want {
				t.Errorf("progress is %s, blame %q; want violated, blame %q", f.Outcome, f.Blame, test.want)
			}
		})
	}
}

// A lock is to blame for missing progress if a client asks for it and has all that the lock
// needs: the client itself, its link to the storage, and a quorum of the lock's nodes. With
// the zero Blame it is not known what is to blame.
func TestBlameForMissingProgressDuringFaults(t *testing.T) {
	const asks = `
			1s c1 fails`
	for _, test := range []struct {
		name, story string
		want        Blame
	}{
		{"two of five nodes are silent", `
			0s fault-1 strikes stops=A
			0s fault-2 strikes stops=B` + asks, BlameLock},
		{"three of five nodes are silent", `
			0s fault-1 strikes stops=A
			0s fault-2 strikes stops=B
			0s fault-3 strikes stops=C` + asks, Blame{}},
		{"two of five nodes are silent, and one of them has a wrong clock rate as well", `
			0s fault-1 strikes stops=A
			0s fault-2 strikes stops=B
			0s fault-3 strikes drifts=B` + asks, BlameLock},
		{"three of five nodes are silent, and the fault of one is lifted", `
			0s fault-1 strikes stops=A
			0s fault-2 strikes stops=B
			0s fault-3 strikes stops=C
			0s fault-2 lifts` + asks, BlameLock},
		{"two of five nodes are down", `
			0s fault-1 strikes kills=A
			0s fault-2 strikes kills=B` + asks, BlameLock},
		{"two of five nodes answer with errors, and a third is slow", `
			0s fault-1 strikes fails=A
			0s fault-2 strikes fails=B
			0s fault-3 strikes slows=c1 from=C` + asks, Blame{}},
		{"two of five nodes answer with errors", `
			0s fault-1 strikes fails=A
			0s fault-2 strikes fails=B` + asks, BlameLock},
		{"one of five nodes is slow, and a message to another is held back", `
			0s fault-1 strikes slows=c1 from=A
			0s fault-2 strikes holds=c1 from=B` + asks, BlameLock},
		{"the clocks of two of five nodes run at a wrong rate", `
			0s fault-1 strikes drifts=A
			0s fault-2 strikes drifts=B` + asks, BlameLock},
		{"two of five nodes cannot reach each other", `
			0s fault-1 strikes cuts=A from=B` + asks, BlameLock},
		{"two of five nodes cannot reach each other, and two others cannot either", `
			0s fault-1 strikes cuts=A from=B
			0s fault-2 strikes cuts=C from=D` + asks, Blame{}},
		{"the client is cut off from two of five nodes", `
			0s fault-1 strikes cuts=c1 from=A,B` + asks, BlameLock},
		{"the client is cut off from three of five nodes", `
			0s fault-1 strikes cuts=c1 from=A,B,C` + asks, Blame{}},
		{"three of five nodes do not receive the client's messages", `
			0s fault-1 strikes cuts=A from=c1
			0s fault-2 strikes cuts=B from=c1
			0s fault-3 strikes cuts=C from=c1` + asks, Blame{}},
		{"another client is cut off from all nodes", `
			0s fault-1 strikes cuts=c2 from=A,B,C,D,E` + asks, BlameLock},
		{"both a client that is cut off and a healthy client ask for the lock", `
			0s fault-1 strikes cuts=c1 from=A,B,C
			1s c1 fails
			2s c2 fails`, BlameLock},
		{"a healthy client has not asked since the fault struck, a client that is cut off has", `
			0s c2 fails
			1s fault-1 strikes cuts=c1 from=A,B,C
			1s c1 fails
			9s c1 is-done`, Blame{}},
		{"a healthy client asks again after the fault struck", `
			0s c2 fails
			1s fault-1 strikes cuts=c1 from=A,B,C
			1s c1 fails
			2s c2 fails
			9s c1 is-done`, BlameLock},
		{"the only node is silent", `
			lock L ttl=30s nodes=A quorum=1
			0s fault-1 strikes stops=A` + asks, Blame{}},
		{"a node that keeps no key of the lock is silent, and its role is unknown", `
			lock L ttl=30s nodes=A quorum=1
			0s fault-1 strikes stops=B` + asks, Blame{}},
		{"the replica that replaced the only node is silent", `
			lock L ttl=30s nodes=A quorum=1
			0s fault-1 strikes stops=B
			0s B replaces A` + asks, Blame{}},
		{"one node keeps all five keys, and is silent", `
			lock L ttl=30s nodes=A keys=1,2,3,4,5
			0s fault-1 strikes stops=A` + asks, Blame{}},
		{"a node is silent, and the trace does not say where the lock keeps its keys", `
			lock L ttl=30s unwatched
			0s fault-1 strikes stops=A` + asks, Blame{}},
		{"the client itself is stopped", `
			0s c1 calls
			1s fault-1 strikes stops=c1
			9s c1 is-cut-off`, Blame{}},
		{"another client is stopped", `
			0s c1 calls
			1s fault-1 strikes stops=c2
			9s c1 is-cut-off`, BlameLock},
		{"the client's clock runs at a wrong rate", `
			0s fault-1 strikes drifts=c1` + asks, Blame{}},
		{"the client's clock runs at a wrong rate, and its lock does not read that clock", `
			lock L ttl=30s true-time
			0s fault-1 strikes drifts=c1` + asks, BlameLock},
		{"another client's clock runs at a wrong rate", `
			0s fault-1 strikes drifts=c2` + asks, BlameLock},
		{"the storage is silent", `
			0s fault-1 strikes stops=storage` + asks, Blame{}},
		{"the client cannot reach the storage", `
			0s fault-1 strikes cuts=c1 from=storage` + asks, Blame{}},
		{"another client cannot reach the storage", `
			0s fault-1 strikes cuts=c2 from=storage` + asks, BlameLock},
		{"a message of the client to the storage is held back", `
			0s fault-1 strikes holds=c1 from=storage` + asks, Blame{}},
		{"a request of the client is stalled in the storage", `
			0s fault-1 strikes stalls=c1` + asks, Blame{}},
		{"a request of another client is stalled in the storage", `
			0s fault-1 strikes stalls=c2` + asks, BlameLock},
		{"a service is silent", `
			0s fault-1 strikes stops=s1` + asks, Blame{}},
		{"a service cannot reach the storage", `
			0s fault-1 strikes cuts=s1 from=storage` + asks, Blame{}},
		{"a fault with an unknown effect acts", `
			0s fault-1 strikes` + asks, Blame{}},
		{"no client wants the lock, and a release is never answered", `
			1s c1 acquires rank=1
			2s fault-1 strikes stops=A
			3s c1 asks-to-release
			9s c1 is-cut-off`, BlameLock},
		{"no client wants the lock, and the releasing client is cut off from three of five nodes", `
			1s c1 acquires rank=1
			2s fault-1 strikes cuts=c1 from=A,B,C
			3s c1 asks-to-release
			9s c1 is-cut-off`, Blame{}},
		{"two of five nodes are silent, and a third keeps a key for too long because its clock was set back", `
			0s A sets by=c2/1 ttl=30s
			0s c2 calls
			1s A shows wall=0s why=jump
			2s c2 crashes
			3s fault-1 strikes stops=D
			3s fault-2 strikes stops=E
			30s c1 fails`, BlameAssumption(trace.AssumeClock)},
		{"one of five nodes is silent, and another keeps a key for too long because its clock was set back", `
			0s A sets by=c2/1 ttl=30s
			0s c2 calls
			1s A shows wall=0s why=jump
			2s c2 crashes
			3s fault-2 strikes stops=E
			30s c1 fails`, BlameLock},
		{"two of five nodes are silent, and a third keeps a key for its TTL by a right clock", `
			0s A sets by=c2/1 ttl=300s
			0s c2 calls
			2s c2 crashes
			3s fault-1 strikes stops=D
			3s fault-2 strikes stops=E
			33s c1 fails`, BlameLock},
		{"one of five nodes loses its power before it answers, and two others are silent", `
			0s c1 calls
			0s c1 commands A
			0s fault-1 strikes instant
			0s A crashes how=power-loss
			0s A restarts
			1s fault-2 strikes stops=B
			1s fault-3 strikes stops=C
			9s c1 is-cut-off`, Blame{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := Check(history.New(parseScript(t, test.story).trace), nil).Finding(Progress)
			if f.Outcome != Violated || f.Blame != test.want {
				t.Errorf("progress is %s, blame %q (%s); want violated, blame %q", f.Outcome, f.Blame, f.Reason, test.want)
			}
		})
	}
}

// If a client was denied the lock, the reason names that client, and how many of the lock's
// keys it could reach.
func TestProgressWithSilentNodes(t *testing.T) {
	judgeAll(t, Progress, []judgement{
		{name: "the reason names the client that is denied the lock, with two of five nodes silent", want: Violated, blame: BlameLock,
			reasonParts: []string{"c2", "c2 could reach healthy nodes for 3 of the lock's 5 keys, and 3 are enough"}, script: `
			0s fault-1 strikes cuts=c1 from=A,B,C
			0s fault-2 strikes stops=D
			0s fault-3 strikes stops=E
			1s c1 fails
			2s c2 fails <--`},
		{name: "the run is cut off before the time limit, with one of five nodes silent", want: Unknown, script: `within 10s
			5s fault-1 strikes stops=A
			6s c1 fails
			14s c1 is-cut-off`},
		{name: "one of the clients completes a section, with one of five nodes silent", want: Holds, script: `
			0s fault-1 strikes stops=A
			1s c1 fails
			2s c2 acquires rank=1
			3s c2 writes x=0>1
			4s c2 releases`},
	})
}

// Judging a run with 50 000 failed calls of acquire takes less than five seconds.
func TestProgressOfALongRun(t *testing.T) {
	const calls = 50_000
	var b strings.Builder
	for i := range calls {
		fmt.Fprintf(&b, "%dms c1 fails\n", i)
	}
	h := &judgedRun{history.New(parseScript(t, b.String()+"60s c2 acquires rank=1\n61s c2 writes x=0>1\n62s c2 releases").trace)}
	began := time.Now()
	if f := judgeProgress(h); f.Outcome != Holds {
		t.Errorf("progress is %s (%s), want holds", f.Outcome, f.Reason)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("judging %d calls took %v, want at most 5s", calls, took)
	}
}
