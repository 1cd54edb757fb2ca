package locks_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// With a simulated replica, WAIT confirms a change when it has reached the replica.
func TestSingleWaitAndItsReplica(t *testing.T) {
	tests := []struct {
		name    string
		lag     time.Duration // how far the replica is behind
		faults  []sim.Fault
		granted bool
	}{
		{"a replica without a lag", 0, nil, true},
		{"a replica that lags by less than the timeout", 500 * time.Millisecond, nil, true},
		{"a replica that lags by more than the timeout", 2 * time.Second, nil, false},
		{"a replica behind a partition", 0, []sim.Fault{timedFault(0, 0, &sim.Partition{Process: "redis-1", From: []string{"redis-2"}})}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			cfg := world(t, "single-wait", sim.Client{Name: "client-1", Attempts: 1})
			cfg.Nodes = append(cfg.Nodes, sim.Node{Name: "redis-2", ReplicaOf: "redis-1", Lag: test.lag})
			cfg.Faults = test.faults
			tr := runWithoutDoubts(t, cfg)
			got := firstStepEnd(t, tr, "client-1", trace.Acquire)
			if got.OK != test.granted || !got.OK && !strings.Contains(got.Text, "no replica confirmed it within 1s") {
				t.Errorf("the lock was granted: %v (%s), want %v", got.OK, got.Text, test.granted)
			}
			deleted := false
			for _, ev := range tr.Events {
				deleted = deleted || ev.Kind == trace.KindDelete && ev.Process == "redis-1" && ev.Key == key
			}
			if !deleted {
				t.Error("the key was not removed, neither by a release nor after the failed attempt")
			}
		})
	}
}

// Without a replica no change is ever confirmed, so no grant counts.
func TestSingleWaitWithoutReplica(t *testing.T) {
	got := firstStepEnd(t, runWithoutDoubts(t, world(t, "single-wait", sim.Client{Name: "client-1", Attempts: 1})), "client-1", trace.Acquire)
	if got.OK {
		t.Error("the lock was granted without a replica, want an error")
	}
}

// A watchdog keeps the lock for a section of any length. In the same world, with a lock
// that has no watchdog, client-2 is granted the lock during client-1's section.
func TestWatchdogInAWorld(t *testing.T) {
	// By lock: whether client-2 is granted the lock only after client-1's release.
	for kind, excluded := range map[string]bool{"watchdog": true, "single": false} {
		tr := runWithoutDoubts(t, longWork(t, kind))
		released := firstStepEnd(t, tr, "client-1", trace.Release).At
		grants := 0
		for _, ev := range tr.Events {
			if ev.Kind != trace.KindEnd || ev.Process != "client-2" || ev.Step != trace.Acquire || !ev.OK {
				continue
			}
			grants++
			if (ev.At > released) != excluded {
				t.Errorf("%s: client-2 was granted the lock at %v, and client-1 released it at %v; want the release first: %v", kind, ev.At, released, excluded)
			}
		}
		if grants == 0 {
			t.Errorf("%s: client-2 was never granted the lock", kind)
		}
	}
}

// The watchdog is a second goroutine of its process. Whatever fault strikes, the run must
// not depend on which goroutine the scheduler runs first.
func TestWatchdogIsDeterministic(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	worlds := map[string][]sim.Fault{
		"no fault":                                    nil,
		"client-1 is paused for a minute":             {timedFault(15*time.Second, time.Minute, &sim.Pause{Process: "client-1"})},
		"client-1 is suspended for a minute":          {timedFault(15*time.Second, time.Minute, &sim.Pause{Process: "client-1", Mode: trace.Suspend})},
		"client-1 is paused during a renewal":         {timedFault(10*time.Second+4*time.Millisecond, time.Minute, &sim.Pause{Process: "client-1"})},
		"a partition cuts client-1 off for 12s":       {timedFault(15*time.Second, 12*time.Second, &sim.Partition{Process: "client-1", From: []string{"redis-1"}})},
		"a partition cuts client-1 off until the end": {timedFault(15*time.Second, 0, &sim.Partition{Process: "client-1", From: []string{"redis-1"}})},
		"client-1 crashes":                            {timedFault(15*time.Second, 0, &sim.CrashFault{Process: "client-1"})},
		"the node restarts":                           {timedFault(15*time.Second, time.Second, &sim.CrashFault{Process: "redis-1"})},
		"the node loses power":                        {timedFault(15*time.Second, 0, &sim.CrashFault{Process: "redis-1", How: trace.PowerLoss})},
		"the clock of client-1 jumps":                 {timedFault(15*time.Second, 0, &sim.Jump{Process: "client-1", By: time.Hour})},
		"the clock of client-1 runs slow":             {timedFault(0, 0, &sim.Drift{Process: "client-1", Rate: -20 * sim.Percent})},
		"the clock of the node runs fast":             {timedFault(0, 0, &sim.Drift{Process: "redis-1", Rate: 50 * sim.Percent})},
	}
	for name, faults := range worlds {
		t.Run(name, func(t *testing.T) {
			for _, clock := range []fakeclock.Kind{fakeclock.Monotonic, fakeclock.Wall} {
				cfg := longWork(t, "watchdog")
				cfg.Faults, cfg.Lock.Options.Clock = faults, clock
				want := runWithoutDoubts(t, cfg)
				cfg.Disturb = func() {
					for range rand.IntN(4) {
						runtime.Gosched()
					}
				}
				for i := range 9 {
					runtime.GOMAXPROCS(1 << (i % 3))
					if got := runWithoutDoubts(t, cfg); got.Hash() != want.Hash() {
						t.Fatalf("with the %s clock run %d differs from the first run: %s", clock, i+1, trace.FirstDifference(want, got))
					}
				}
			}
		})
	}
}

// A client that ends without a release leaves its watchdog running. The world must be able
// to end nevertheless.
func TestWatchdogThatIsNeverReleased(t *testing.T) {
	kind, _ := locks.Lookup("watchdog")
	for name, faults := range map[string][]sim.Fault{
		"no fault":            nil,
		"a pause of client-1": {timedFault(15*time.Second, 0, &sim.Pause{Process: "client-1"})},
		"a partition between client-1 and the node": {timedFault(15*time.Second, 0, &sim.Partition{Process: "client-1", From: []string{"redis-1"}})},
		"each request takes 2s":                     {timedFault(0, 0, &sim.Delay{Process: "client-1", To: "redis-1", By: 2 * time.Second})},
	} {
		cfg := world(t, "watchdog", sim.Client{Name: "client-1", Run: func(ctx context.Context, p *sim.Program) error {
			l, err := kind.New(p.Env())
			if err != nil {
				return err
			}
			if _, err := l.Acquire(ctx); err != nil {
				return err
			}
			return p.Clock().Sleep(ctx, time.Minute+ttl/3+time.Second)
		}})
		cfg.Faults = faults
		if _, err := sim.Run(cfg); err != nil {
			t.Errorf("%s: the error of the run is %v, want none", name, err)
		}
	}
}
