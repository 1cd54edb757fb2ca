package checks

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// The scripts are traces written by hand; see [script].
func TestProgress(t *testing.T) {
	const works = `
			11s c1 acquires rank=1
			12s c1 writes x=0>1
			13s c1 releases`
	judgeAll(t, Progress, []judgement{
		{name: "somebody completes a section", want: Holds, script: works},
		{name: "nobody does", want: Violated, blame: BlameLock,
			reasonParts: []string{"from the start of the run until 9s no client that wanted the lock completed a section; c1 wanted it"}, script: `
			0s c1 fails
			9s c1 is-done <--`},
		{name: "a section without a write is not complete", want: Violated, script: `
			0s c1 acquires rank=1
			1s c1 reads x=0
			9s c1 releases <--`},
		{name: "unless its client never writes", want: Holds, script: `
			read-only c1
			0s c1 acquires rank=1
			1s c1 reads x=0
			9s c1 releases`},
		{name: "and then nothing must have failed", want: Violated, script: `
			read-only c1
			0s c1 acquires rank=1
			9s c1 releases <--`},
		{name: "nor one with a write that was refused", want: Violated, script: `
			0s c1 acquires rank=1
			1s c1 writes x=0>1
			2s c1 is-refused
			9s c1 releases <--`},
		{name: "nor one with a write of which the client never heard", want: Violated, script: `
			0s c1 acquires rank=1
			1s c1 sends message=1
			2s c1 lands message=1 x=0>1
			9s c1 releases <--`},
		{name: "nor one that was not released", want: Violated, script: `
			0s c1 acquires rank=1
			1s c1 writes x=0>1 <--`},

		{name: "within the bound, to the nanosecond", want: Holds, script: `within 8s
			5s fault-1 strikes` + works},
		{name: "after the bound", want: Violated, reasonParts: []string{"from the last fault at 5s until 12.999999999s"}, script: `within 7.999999999s
			5s fault-1 strikes
			11s c1 acquires rank=1
			12s c1 writes x=0>1 <--
			13s c1 releases`},
		{name: "the run ends before the fault", want: NotApplicable, reasonParts: []string{"the run ended before fault 1 did"}, script: `
			0s fault-1 strikes lasting
			0s fault-2 strikes lasting
			1s fault-2 lifts
			1s c1 fails`},
		{name: "or cut off before it, with nobody who wants the lock", want: NotApplicable, reasonParts: []string{"nobody wanted"}, script: `
			0s c1 acquires rank=1
			1s fault-1 strikes lasting
			2s c1 releases
			3s c1 is-done
			9s c1 is-cut-off`},
		{name: "a fault that stays", want: Violated, script: `
			0s fault-1 strikes
			1s c1 fails <--`},
		{name: "the bound counts from the last lift", want: Holds, script: `within 4s
			5s fault-1 strikes
			9s fault-1 lifts` + works},
		{name: "a section begun before the last fault was over does not count", want: Violated, blame: BlameLock, script: `
			0s fault-1 strikes
			1s c1 acquires rank=1
			2s fault-1 lifts
			3s c1 writes x=0>1
			4s c1 releases
			5s c2 fails <--`},
		{name: "and whoever is in one then does not want the lock", want: NotApplicable, reasonParts: []string{"nobody wanted"}, script: `
			0s fault-1 strikes
			1s c1 acquires rank=1
			2s fault-1 lifts
			3s c1 writes x=0>1
			4s c1 releases`},
		{name: "whoever waits for a pending acquire wants it", want: Violated, script: `
			1s c1 calls
			2s fault-1 strikes
			3s c1 fails
			4s c1 is-done <--`},
		{name: "and whoever waits for its next attempt", want: Violated, script: `
			1s c1 fails
			2s fault-1 strikes
			9s c1 is-cut-off <--`},
		{name: "even if that comes after the bound", want: Violated, script: `within 5s
			1s c1 fails
			2s fault-1 strikes <--
			9s c1 fails
			9s c1 is-done`},
		{name: "but not whoever has given up", want: NotApplicable, script: `
			1s c1 fails
			2s fault-1 strikes
			3s c1 is-done`},
		{name: "nor whoever crashed while waiting", want: NotApplicable, script: `
			1s c1 calls
			2s fault-1 strikes
			2s c1 crashes
			9s c2 is-done`},
		{name: "nor whoever calls only after the bound", want: NotApplicable, script: `within 5s
			0s fault-1 strikes
			6s c1 fails
			7s c1 is-done`},
		{name: "cut off before the bound", want: Unknown, reasonParts: []string{"cut off at 20s, before the bound for progress at 25s"}, script: `within 15s
			10s fault-1 strikes
			11s c1 fails
			20s c1 is-cut-off`},
		{name: "cut off just when the bound is over", want: Violated, script: `within 10s
			10s fault-1 strikes
			11s c1 fails
			20s c1 is-cut-off <--`},
		{name: "cut off with a client that never came out of its section", want: Violated, reasonParts: []string{"c1 had not finished"}, script: `
			1s  c1 acquires rank=1
			10s fault-1 strikes
			20s c1 is-cut-off <--`},
		{name: "cut off with nobody but a dead client", want: NotApplicable, script: `
			1s  c1 acquires rank=1
			10s fault-1 strikes
			11s c1 crashes
			20s c1 is-cut-off`},
		{name: "one lock proven, the other cut off", want: Unknown, script: `within 15s
			lock M ttl=30s
			10s fault-1 strikes
			11s c2 fails lock=M` + works + `
			20s c1 is-cut-off`},
		{name: "a bound as long as the run", want: Violated, script: `within 20s
			10s fault-1 strikes
			11s c1 fails
			20s c1 is-cut-off <--`},
		{name: "ended before the bound", want: Violated, script: `within 15s
			10s fault-1 strikes
			11s c1 fails
			20s c1 is-done <--`},
		{name: "each lock for itself", want: Violated, reasonParts: []string{"c2 wanted it"}, script: `
			lock M ttl=30s` + works + `
			20s c2 fails lock=M <--`},
		{name: "nobody wanted it", want: NotApplicable, script: `
			0s c1 is-done`},
		{name: "no lock", want: NotApplicable, script: `
			no-lock
			0s c1 writes x=0>1`},
	})
}

func TestWhoseFaultALackOfProgressIs(t *testing.T) {
	for _, test := range []struct {
		name, story string
		want        Blame
	}{
		{"no fault ever", `
			1s c1 fails`, BlameLock},
		{"a fault that is over", `
			0s fault-1 strikes
			1s fault-1 lifts
			1s c1 fails`, BlameLock},
		{"a fault that is active", `
			0s fault-1 strikes
			1s c1 fails`, Blame{}},
		{"one of two faults is over", `
			0s fault-1 strikes
			0s fault-2 strikes
			1s fault-1 lifts
			1s c1 fails`, Blame{}},
		{"a fault without a duration", `
			0s fault-1 strikes instant
			1s c1 fails`, BlameLock},
		{"a client that crashed for good while it held the lock", `
			0s fault-1 strikes stops=c2
			0s c2 crashes
			1s c1 fails`, BlameLock},
		{"a client that hangs for good", `
			0s fault-1 strikes stops=c2
			0s c2 pauses
			1s c1 fails`, BlameLock},
		{"another fault struck in between", `
			0s fault-1 strikes stops=c2
			0s fault-2 strikes instant
			0s c2 crashes
			1s c1 fails`, BlameLock},
		{"a fault that stops nobody, when a client happened to crash", `
			0s fault-1 strikes stops=c2
			0s c2 crashes
			0s fault-2 strikes
			0s c3 crashes
			1s c1 fails`, Blame{}},
		{"the very client that wants the lock hangs", `
			0s c1 calls
			1s fault-1 strikes stops=c1
			1s c1 pauses
			9s c1 is-cut-off`, Blame{}},
		{"the only node lost its power before it answered, and nobody says so", `
			lock L ttl=30s nodes=A quorum=1
			0s c1 calls
			0s c1 commands A
			0s fault-1 strikes instant
			0s A crashes how=power-loss
			1s A restarts
			9s c1 is-cut-off`, Blame{}},
		{"it is one of five", `
			0s c1 calls
			0s c1 commands A
			0s fault-1 strikes instant
			0s A crashes how=power-loss
			1s A restarts
			9s c1 is-cut-off`, BlameLock},
		{"it had answered before", `
			lock L ttl=30s nodes=A quorum=1
			0s c1 calls
			0s c1 commands A
			0s A answers c1
			0s fault-1 strikes instant
			1s A crashes how=power-loss
			2s A restarts
			9s c1 is-cut-off`, BlameLock},
		{"its process was killed, which its machine says", `
			lock L ttl=30s nodes=A quorum=1
			0s c1 calls
			0s c1 commands A
			0s fault-1 strikes instant
			0s A crashes how=kill
			1s A restarts
			9s c1 is-cut-off`, BlameLock},
		{"its machine was suspended while it asked", `
			0s  c1 calls
			0s  fault-1 strikes lasting stops=c1
			0s  c1 shows wall=0s monotonic=0s halted
			20s c1 shows wall=20s monotonic=0s why=resume
			20s fault-1 lifts
			20s c1 acquires rank=1 ends=30s monotonic
			21s c1 releases
			22s c1 is-done`, BlameAssumption(trace.AssumeProcess)},
		{"its machine was not, and it gave up", `
			0s  c1 calls
			0s  fault-1 strikes lasting
			20s fault-1 lifts
			20s c1 acquires rank=1 ends=30s monotonic
			21s c1 releases
			22s c1 is-done`, BlameLock},
		{"the storage failed who was granted the lock", `
			0s fault-1 strikes instant
			1s c1 acquires rank=1 ends=30s
			2s c1 fails-to-read
			3s c1 releases
			4s c1 is-done`, Blame{}},
		{"a granted lease was over before its client asked to prolong it", `
			0s  fault-1 strikes instant
			1s  c1 acquires rank=1 ends=10s
			1s  c1 starts-to-work
			12s c1 asks-to-extend
			13s c1 fails-to-extend
			13s c1 releases
			14s c1 is-done`, Blame{}},
		{"a lease that had not ended could not be prolonged", `
			0s c1 calls
			0s fault-1 strikes instant
			1s c1 acquires rank=1 ends=30s
			1s c1 starts-to-work
			2s c1 asks-to-extend
			3s c1 fails-to-extend
			3s c1 releases
			4s c1 is-done`, BlameLock},
		{"nor could it, because the node had lost its key", `
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
		{"nor could it, but only two nodes of five had lost its keys", `
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
		{"nor could it, because three of five had", `
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
		{"nobody wants the lock, which never answers a release", `
			1s c1 acquires rank=1
			2s fault-1 strikes instant
			3s c1 asks-to-release
			9s c1 is-cut-off`, BlameLock},
		{"nor an extend, while its client works", `
			1s c1 acquires rank=1
			2s fault-1 strikes instant
			3s c1 starts-to-work
			4s c1 asks-to-extend
			9s c1 is-cut-off`, BlameLock},
		{"nor a release, but a fault is active", `
			1s c1 acquires rank=1
			2s fault-1 strikes
			3s c1 asks-to-release
			9s c1 is-cut-off`, Blame{}},
		{"nor a release, and its client hangs", `
			1s c1 acquires rank=1
			3s c1 asks-to-release
			3s fault-1 strikes stops=c1
			3s c1 pauses
			9s c1 is-cut-off`, Blame{}},
		{"nobody wants the lock, and its holder never ends its work", `
			1s c1 acquires rank=1
			2s fault-1 strikes instant
			3s c1 starts-to-work
			9s c1 is-cut-off`, Blame{}},
		{"nor between two steps", `
			1s c1 acquires rank=1
			2s fault-1 strikes instant
			9s c1 is-cut-off`, Blame{}},
		{"every client is granted the lock", `
			lock L ttl=30s open
			1s c1 acquires rank=1
			2s c1 releases`, Blame{}},
		{"granted, but refused by the storage", `
			1s c1 acquires rank=1
			2s c1 is-refused
			3s c1 releases`, Blame{}},
		{"granted, but refused a read", `
			1s c1 acquires rank=1
			2s c1 is-refused-a-read
			3s c1 releases`, Blame{}},
		{"refused under another lock", `
			lock M ttl=30s
			1s c1 fails
			1s c2 acquires rank=1 lock=M
			2s c2 is-refused
			3s c2 releases`, BlameLock},
		{"refused after the bound", `within 5s
			0s fault-1 strikes instant
			1s c1 acquires rank=1
			7s c1 is-refused
			8s c1 releases`, BlameLock},
		{"refused in a section that had begun before the last fault", `
			1s c1 acquires rank=1
			2s fault-1 strikes instant
			2s c1 is-refused
			3s c1 releases
			4s c1 fails`, BlameLock},
		{"a client that ran on while it was paused", `
			1s c1 fails
			2s c1 runs-on`, Blame{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := Check(history.New(parseScript(t, test.story).trace), nil).Finding(Progress)
			if f.Outcome != Violated || f.Blame != test.want {
				t.Errorf("it is %s by %q, want a violation by %q", f.Outcome, f.Blame, test.want)
			}
		})
	}
}

// A lock is to blame for missing progress if a client asks for it and has all that the lock
// needs: the client itself, its link to the storage, and a quorum of the lock's nodes.
func TestWhatALockNeeds(t *testing.T) {
	const asks = `
			1s c1 fails`
	for _, test := range []struct {
		name, story string
		want        Blame
	}{
		{"two of five nodes are silent", `
			0s fault-1 strikes stops=A
			0s fault-2 strikes stops=B` + asks, BlameLock},
		{"three are", `
			0s fault-1 strikes stops=A
			0s fault-2 strikes stops=B
			0s fault-3 strikes stops=C` + asks, Blame{}},
		{"one of them is struck twice", `
			0s fault-1 strikes stops=A
			0s fault-2 strikes stops=B
			0s fault-3 strikes drifts=B` + asks, BlameLock},
		{"one of them is well again", `
			0s fault-1 strikes stops=A
			0s fault-2 strikes stops=B
			0s fault-3 strikes stops=C
			0s fault-2 lifts` + asks, BlameLock},
		{"two are down", `
			0s fault-1 strikes kills=A
			0s fault-2 strikes kills=B` + asks, BlameLock},
		{"two answer with errors, and a third is slow", `
			0s fault-1 strikes fails=A
			0s fault-2 strikes fails=B
			0s fault-3 strikes slows=c1 from=C` + asks, Blame{}},
		{"two answer with errors", `
			0s fault-1 strikes fails=A
			0s fault-2 strikes fails=B` + asks, BlameLock},
		{"one is slow, and a message to another is held back", `
			0s fault-1 strikes slows=c1 from=A
			0s fault-2 strikes holds=c1 from=B` + asks, BlameLock},
		{"the clocks of two run otherwise", `
			0s fault-1 strikes drifts=A
			0s fault-2 strikes drifts=B` + asks, BlameLock},
		{"two cannot reach each other", `
			0s fault-1 strikes cuts=A from=B` + asks, BlameLock},
		{"nor two others", `
			0s fault-1 strikes cuts=A from=B
			0s fault-2 strikes cuts=C from=D` + asks, Blame{}},
		{"the client is cut off from two", `
			0s fault-1 strikes cuts=c1 from=A,B` + asks, BlameLock},
		{"from three", `
			0s fault-1 strikes cuts=c1 from=A,B,C` + asks, Blame{}},
		{"three cannot hear the client", `
			0s fault-1 strikes cuts=A from=c1
			0s fault-2 strikes cuts=B from=c1
			0s fault-3 strikes cuts=C from=c1` + asks, Blame{}},
		{"another client is cut off from all", `
			0s fault-1 strikes cuts=c2 from=A,B,C,D,E` + asks, BlameLock},
		{"who is cut off wants the lock, too", `
			0s fault-1 strikes cuts=c1 from=A,B,C
			1s c1 fails
			2s c2 fails`, BlameLock},
		{"who is not cut off has not asked since", `
			0s c2 fails
			1s fault-1 strikes cuts=c1 from=A,B,C
			1s c1 fails
			9s c1 is-done`, Blame{}},
		{"and then has", `
			0s c2 fails
			1s fault-1 strikes cuts=c1 from=A,B,C
			1s c1 fails
			2s c2 fails
			9s c1 is-done`, BlameLock},
		{"the only node is silent", `
			lock L ttl=30s nodes=A quorum=1
			0s fault-1 strikes stops=A` + asks, Blame{}},
		{"another node, of which nobody tells what it is for", `
			lock L ttl=30s nodes=A quorum=1
			0s fault-1 strikes stops=B` + asks, Blame{}},
		{"the only node that holds the lock is a replica that took over", `
			lock L ttl=30s nodes=A quorum=1
			0s fault-1 strikes stops=B
			0s B replaces A` + asks, Blame{}},
		{"one node keeps five keys", `
			lock L ttl=30s nodes=A keys=1,2,3,4,5
			0s fault-1 strikes stops=A` + asks, Blame{}},
		{"nobody tells where the lock keeps its keys", `
			lock L ttl=30s unwatched
			0s fault-1 strikes stops=A` + asks, Blame{}},
		{"the client itself is stopped", `
			0s c1 calls
			1s fault-1 strikes stops=c1
			9s c1 is-cut-off`, Blame{}},
		{"another is", `
			0s c1 calls
			1s fault-1 strikes stops=c2
			9s c1 is-cut-off`, BlameLock},
		{"the client's clock runs otherwise", `
			0s fault-1 strikes drifts=c1` + asks, Blame{}},
		{"and its lock does not read it", `
			lock L ttl=30s true-time
			0s fault-1 strikes drifts=c1` + asks, BlameLock},
		{"another client's does", `
			0s fault-1 strikes drifts=c2` + asks, BlameLock},
		{"the storage is silent", `
			0s fault-1 strikes stops=storage` + asks, Blame{}},
		{"the client cannot reach the storage", `
			0s fault-1 strikes cuts=c1 from=storage` + asks, Blame{}},
		{"another client cannot", `
			0s fault-1 strikes cuts=c2 from=storage` + asks, BlameLock},
		{"a message of the client to the storage is held back", `
			0s fault-1 strikes holds=c1 from=storage` + asks, Blame{}},
		{"a request of the client stands still in the storage", `
			0s fault-1 strikes stalls=c1` + asks, Blame{}},
		{"another's does", `
			0s fault-1 strikes stalls=c2` + asks, BlameLock},
		{"a service is silent", `
			0s fault-1 strikes stops=s1` + asks, Blame{}},
		{"a service cannot reach the storage", `
			0s fault-1 strikes cuts=s1 from=storage` + asks, Blame{}},
		{"a fault of which nobody tells what it does", `
			0s fault-1 strikes` + asks, Blame{}},
		{"nobody wants the lock, which never answers a release", `
			1s c1 acquires rank=1
			2s fault-1 strikes stops=A
			3s c1 asks-to-release
			9s c1 is-cut-off`, BlameLock},
		{"nor does a majority of its nodes", `
			1s c1 acquires rank=1
			2s fault-1 strikes cuts=c1 from=A,B,C
			3s c1 asks-to-release
			9s c1 is-cut-off`, Blame{}},
		{"two are silent, and the clock of a third was set back, so that it keeps a key for too long", `
			0s A sets by=c2/1 ttl=30s
			0s c2 calls
			1s A shows wall=0s why=jump
			2s c2 crashes
			3s fault-1 strikes stops=D
			3s fault-2 strikes stops=E
			30s c1 fails`, BlameAssumption(trace.AssumeClock)},
		{"one is silent", `
			0s A sets by=c2/1 ttl=30s
			0s c2 calls
			1s A shows wall=0s why=jump
			2s c2 crashes
			3s fault-2 strikes stops=E
			30s c1 fails`, BlameLock},
		{"two are silent, and the clock of a third is right", `
			0s A sets by=c2/1 ttl=300s
			0s c2 calls
			2s c2 crashes
			3s fault-1 strikes stops=D
			3s fault-2 strikes stops=E
			33s c1 fails`, BlameLock},
		{"one node lost its power before it answered, and two are silent", `
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
				t.Errorf("it is %s by %q (%s), want a violation by %q", f.Outcome, f.Blame, f.Reason, test.want)
			}
		})
	}
}

// The finding names a client that is denied the lock, and how many nodes it could reach.
func TestWhoIsDenied(t *testing.T) {
	judgeAll(t, Progress, []judgement{
		{name: "with two of five nodes silent", want: Violated, blame: BlameLock,
			reasonParts: []string{"c2 wanted it", "c2 could reach 3 of the lock's 5 keys on healthy nodes, and 3 are enough"}, script: `
			0s fault-1 strikes cuts=c1 from=A,B,C
			0s fault-2 strikes stops=D
			0s fault-3 strikes stops=E
			1s c1 fails
			2s c2 fails <--`},
		{name: "cut off before the time is up, it can yet be granted", want: Unknown, script: `within 10s
			5s fault-1 strikes stops=A
			6s c1 fails
			14s c1 is-cut-off`},
		{name: "somebody gets on, and it is all the same who", want: Holds, script: `
			0s fault-1 strikes stops=A
			1s c1 fails
			2s c2 acquires rank=1
			3s c2 writes x=0>1
			4s c2 releases`},
	})
}

// Clients that ask again and again are judged in seconds.
func TestProgressOfALongRun(t *testing.T) {
	const calls = 50_000
	var b strings.Builder
	for i := range calls {
		fmt.Fprintf(&b, "%dms c1 fails\n", i)
	}
	h := &judgedRun{history.New(parseScript(t, b.String()+"60s c2 acquires rank=1\n61s c2 writes x=0>1\n62s c2 releases").trace)}
	began := time.Now()
	if f := judgeProgress(h); f.Outcome != Holds {
		t.Errorf("%s: %s", f.Outcome, f.Reason)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("%d calls took %v", calls, took)
	}
}
