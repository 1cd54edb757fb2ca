package snapshot_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/snapshot"
	"github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/internal/testkit/suites"
	"github.com/locksim/locksim/trace"
)

var bothClients = []string{"client-1", "client-2"}

// rowsAt returns the rows right after an event.
func rowsAt(t *trace.Trace, seq int) []string {
	h := history.New(t)
	var rows []string
	for _, r := range snapshot.NewCamera(h, bothClients).At(history.MomentOf(h.Event(seq))) {
		rows = append(rows, fmt.Sprintf("%s: %s; %s", r.Who, r.State, r.Holding))
	}
	return rows
}

func TestSnapshots(t *testing.T) {
	s := simtest.NewScript("none", 3)
	check := func(want ...string) {
		t.Helper()
		if got := rowsAt(&s.Trace, len(s.Events)); !slices.Equal(got, want) {
			t.Errorf("after event %d the rows are\n%q, want\n%q", len(s.Events), got, want)
		}
	}
	check("client-1: has not asked for the lock; ", "client-2: has not asked for the lock; ", "lock: held by nobody; ")
	s.Then(simtest.Begin("client-2", 1, trace.Acquire, 0))
	check("client-1: has not asked for the lock; ", "client-2: asks for the lock; ", "lock: held by nobody; ")
	s.Acquires("client-1", 1, 1, s.Nodes()[:2]...)
	check("client-1: in its critical section, token 1; holds the lock until 30.002s", "client-2: asks for the lock; ", "lock: held by client-1; client-1's key on 2 of 3")
	s.Writes("client-1", 1, 1, 1)
	check("client-1: in its critical section, token 1; holds the lock until 30.002s", "client-2: asks for the lock; ", "lock: held by client-1; client-1's key on 2 of 3", "storage, x: version 1, by client-1; written with token 1")
	s.Then(trace.Event{Kind: trace.KindStrike, Fault: 1, Text: "pause client-1"}, trace.Event{Kind: trace.KindPause, Process: "client-1", Text: "stop"})
	s.Faults = []trace.FaultInfo{{Text: "pause client-1", Assumption: "process"}}
	check("client-1: paused, in its critical section, token 1; holds the lock until 30.002s", "client-2: asks for the lock; ", "lock: held by client-1; client-1's key on 2 of 3", "storage, x: version 1, by client-1; written with token 1")
	s.At(31*time.Second, trace.Event{Kind: trace.KindExpire, Process: "redis-1", Key: "x", Owner: &trace.Actor{Client: "client-1", Section: 1}})
	check("client-1: paused, in its critical section, token 1; its lease ended at 30.002s", "client-2: asks for the lock; ", "lock: held by nobody; client-1's key on 1 of 3", "storage, x: version 1, by client-1; written with token 1")
	s.Then(trace.Event{Kind: trace.KindRevert, Process: "storage", Object: "x", Version: 0, Replaced: 1})
	check("client-1: paused, in its critical section, token 1; its lease ended at 30.002s", "client-2: asks for the lock; ", "lock: held by nobody; client-1's key on 1 of 3", "storage, x: version 0, after the storage lost a later one; ")
}

// The end of a lease by its client's clock is the one that could be foreseen, until the clock
// is set.
func TestLeaseBeforeAndAfterAJump(t *testing.T) {
	s := simtest.NewScript("none", 1)
	s.Acquires("client-1", 1, 1, s.Nodes()...)
	granted := &s.Events[len(s.Events)-1]
	granted.LeaseEnd.Clock = fakeclock.Wall
	before := len(s.Events)
	s.At(2*time.Second, trace.Event{Kind: trace.KindClock, Process: "client-1", Clocks: &trace.Clocks{Wall: 22e9, Monotonic: 2e9, Why: trace.Jumped}})
	after := len(s.Events)
	s.At(11*time.Second, trace.Event{Kind: trace.KindHorizon})
	for _, c := range []struct {
		seq  int
		want string
	}{
		{before, "client-1: in its critical section, token 1; holds the lock until 30.001s"},
		{after, "client-1: in its critical section, token 1; holds the lock until 10.001s"},
		{len(s.Events), "client-1: in its critical section, token 1; its lease ended at 10.001s"},
	} {
		if got := rowsAt(&s.Trace, c.seq)[0]; got != c.want {
			t.Errorf("after event %d the row is %q, want %q", c.seq, got, c.want)
		}
	}
}

// A snapshot in the middle of a run is the same as one of a run that was cut off there, so it shows
// nothing of the future. Runs with a crash are left out: what a crash has destroyed is known only
// after the restart.
func TestSnapshotsShowNoFuture(t *testing.T) {
	for _, s := range suites.RunnableScenarios() {
		t.Run(s.Name, func(t *testing.T) {
			result, err := suites.ResultOf(s)
			if err != nil {
				t.Fatal(err)
			}
			for _, run := range result.Runs {
				whole := run.History.Trace
				if slices.ContainsFunc(whole.Events, func(ev trace.Event) bool { return ev.Kind == trace.KindCrash }) {
					continue
				}
				const samples = 8
				for i := 1; i < samples; i++ {
					n := len(whole.Events) * i / samples
					if n == 0 {
						continue
					}
					start := *whole
					start.Events = whole.Events[:n]
					// A run that is cut off does not know the objects that appear later.
					isUnused := func(row string) bool { return strings.HasSuffix(row, ": version 0; ") }
					got, want := slices.DeleteFunc(rowsAt(whole, n), isUnused), slices.DeleteFunc(rowsAt(&start, n), isUnused)
					if !slices.Equal(got, want) {
						t.Fatalf("%s %s, after event %d of %d: the rows are\n%q, and if the run ends there\n%q", run.Variant.Name, run.Fencing, n, len(whole.Events), got, want)
					}
				}
			}
		})
	}
}
