package reports

import (
	"testing"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// witnesses parses texts as witnesses in the grammar of scenarios.
func witnesses(t *testing.T, texts ...string) []trace.Witness {
	t.Helper()
	var all []trace.Witness
	for _, text := range texts {
		w, err := trace.ParseWitness(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, w)
	}
	return all
}

// runOf returns a run for a trace written by hand, with its verdict.
func runOf(tr *trace.Trace, seen []trace.Witness) scenarios.RunResult {
	return scenarios.RunResult{
		Variant: &scenarios.Variant{Witnesses: seen}, Fencing: scenarios.Off, History: history.New(tr), Verdict: checks.Check(history.New(tr), seen),
	}
}

// Each important moment has a sign in the margin of the timeline. A line below its clause
// says what the moment is.
func TestImportantMomentsAreMarked(t *testing.T) {
	wantText(t, `
   0.005s  client-1  gets the lock on all 3 nodes: token 1, lease until 30.001s
   0.007s  storage   answers client-1's read of x: version 0
▸  0.010s  client-1  is paused (fault 1)
                     ▸ fault 1 begins: pause client-1
        ⋮  30s pass
  30.001s  client-1  its lease ends, but it has not released
▸ 30.002s            client-1's key expired on all 3 nodes
                     ▸ witness: client-1's keys expired while client-1 was
                       paused
✗ 30.009s  client-2  gets the lock on all 3 nodes: token 2, lease until 60.005s
                     ✗ violates section-exclusion
  30.011s  storage   answers client-2's read of x: version 0
▸ 30.014s  storage   applies client-2's write of x (token 2): version 0 → 1
                     ▸ witness: client-2 wrote
  30.020s  client-2  releases the lock on all 3 nodes
▸ 30.022s  client-1  resumes after 30s (fault 1)
                     ▸ fault 1 ends
✗ 30.024s  storage   applies client-1's write of x (token 1): version 1 → 2, but
                     the client had read version 0
                     ✗ violates grant-order, write-order, no-lost-update and
                       serial-sections
  30.027s  client-1  believes that it has released the lock, but none of its
                     keys was still valid
`, timelineOf([]scenarios.RunResult{
		runOf(simtest.PausedHolderTrace("none"), witnesses(t, "client-1's keys expired while client-1 was paused", "client-2 wrote", "client-1 crashed")),
	}, Options{}))
}

// An important moment that no clause covers gets a line of its own, at its place in the
// order of time.
func TestImportantMomentsWithoutAClauseAreMarked(t *testing.T) {
	s := simtest.NewScript("none", 1)
	s.Acquires("client-1", 1, 1, "redis-1")
	s.Then(trace.Event{Kind: trace.KindSend, Process: "client-1", Peer: "storage", Conn: 1, Msg: 1, Step: trace.Write, Section: 1})
	s.At(2*time.Second, trace.Event{Kind: trace.KindSend, Process: "client-2", Peer: "storage", Conn: 1, Msg: 1, Step: trace.Write, Section: 1})
	s.Then(trace.Event{Kind: trace.KindCrash, Process: "client-1"})
	wantText(t, `
  0.003s  client-1  gets the lock on redis-1: token 1, lease until 30.001s
▸ 0.004s            witness: client-1's write request to storage is in flight
       ⋮  2s pass
▸ 2.000s            witness: client-2's write request to storage is in flight
  2.001s  client-1  crashes
`, timelineOf([]scenarios.RunResult{runOf(&s.Trace, witnesses(t,
		"client-2's write request to storage is in flight", "client-1's write request to storage is in flight"))}, Options{}))
}

// If a clause is about a fault itself, no mark below it repeats the fault.
func TestFaultsAreMentionedOnce(t *testing.T) {
	s := simtest.NewScript("none", 1)
	s.Faults = []trace.FaultInfo{{Text: "partition client-1"}, {Text: "jump redis-1, by 31s"}}
	s.Then(
		trace.Event{Kind: trace.KindStrike, Fault: 1, Text: "partition client-1"},
		trace.Event{Kind: trace.KindStrike, Fault: 2, Text: "jump redis-1, by 31s", Instant: true},
		trace.Event{Kind: trace.KindClock, Process: "redis-1", Clocks: &trace.Clocks{Wall: int64(31*time.Second + 3*time.Millisecond), Why: "jump"}},
	)
	wantText(t, `
▸ 0.001s  fault 1  strikes: partition client-1
▸ 0.003s  redis-1  its wall clock jumps forward by 31s (fault 2)
                   ▸ fault 2: jump redis-1, by 31s
`, timelineOf([]scenarios.RunResult{runOf(&s.Trace, nil)}, Options{}))
}

// The common part of two runs ends where their marks differ, even if their clauses are
// equal there.
func TestCommonPartEndsWhereMarksDiffer(t *testing.T) {
	withFencing := runOf(simtest.PausedHolderTrace("writes"), nil)
	withFencing.Fencing = scenarios.On
	wantInOrder(t, timelineOf([]scenarios.RunResult{runOf(simtest.PausedHolderTrace("none"), nil), withFencing}, Options{}),
		"✗ violates section-exclusion\n",
		"Same so far. From here on the runs without fencing and with fencing differ:",
		"\n  without fencing\n✗ 30.024s",
		"✗ violates grant-order",
		"\n  with fencing\n  30.024s  storage   refuses")
}
