package libraries_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

var rueidislockKinds = []string{"rueidislock", "rueidislock-strict"}

// count returns the number of events of one kind that a process has in a trace.
func count(tr *trace.Trace, kind trace.Kind, process string) (n int) {
	for _, ev := range tr.Events {
		if ev.Kind == kind && ev.Process == process {
			n++
		}
	}
	return n
}

// first returns the first event of one kind that a process has in a trace.
func first(t *testing.T, tr *trace.Trace, kind trace.Kind, process string) trace.Event {
	t.Helper()
	for _, ev := range tr.Events {
		if ev.Kind == kind && ev.Process == process {
			return ev
		}
	}
	t.Fatalf("there is no event %q of %s", kind, process)
	return trace.Event{}
}

// near checks a time. got may be later than want, by the time that a few messages and
// retries take.
func near(t *testing.T, what string, got, want time.Duration) {
	t.Helper()
	if got < want || got > want+50*time.Millisecond {
		t.Errorf("%s at %v, want %v", what, got, want)
	}
}

// rueidislock renews its lease as long as the client works. Meanwhile no other client is
// granted the lock. After the release, all keys are deleted.
func TestRueidislockInAWorld(t *testing.T) {
	for _, kind := range rueidislockKinds {
		tr := runWithoutDoubts(t, longWork(t, kind))
		released := firstStepEnd(t, tr, "client-1", trace.Release)
		if !released.OK || released.At < 4*ttl {
			t.Errorf("%s: client-1 released the lock at %v: %s", kind, released.At, released.Text)
		}
		for _, ev := range tr.Events {
			if ev.Kind == trace.KindEnd && ev.Process == "client-2" && ev.Step == trace.Acquire && ev.OK && ev.At < released.At {
				t.Errorf("%s: client-2 got the lock at %v, client-1 released it at %v", kind, ev.At, released.At)
			}
		}
		// Each of the two grants has three keys, and client-1's keys are renewed seven
		// times.
		for kind, want := range map[trace.Kind]int{trace.KindSet: 6, trace.KindTouch: 21, trace.KindDelete: 6, trace.KindExpire: 0} {
			if got := count(tr, kind, "redis-1"); got != want {
				t.Errorf("%s: %d times %s, want %d", tr.Name, got, kind, want)
			}
		}
		if n := count(tr, trace.KindLost, "client-1"); n != 0 {
			t.Errorf("%s: client-1 was notified %d times of the loss of the lock", kind, n)
		}
	}
}

// The goroutines of rueidislock share a connection and wake at the same moments. Their
// order must not change a trace, whatever faults strike.
func TestRueidislockIsDeterministic(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	cut := func(at, lasts time.Duration) []sim.Fault {
		return []sim.Fault{timedFault(at, lasts, &sim.Partition{Process: "client-1", From: []string{"redis-1"}})}
	}
	worlds := map[string][]sim.Fault{
		"no fault":                                        nil,
		"the holder is paused for a minute":               {timedFault(14*time.Second, time.Minute, &sim.Pause{Process: "client-1"})},
		"the holder is paused in a renewal":               {timedFault(15*time.Second+4*time.Millisecond, 20*time.Second, &sim.Pause{Process: "client-1"})},
		"the holder is paused while it releases":          {timedFault(120*time.Second+8*time.Millisecond, 20*time.Second, &sim.Pause{Process: "client-1"})},
		"the holder is suspended for a minute":            {timedFault(14*time.Second, time.Minute, &sim.Pause{Process: "client-1", Mode: trace.Suspend})},
		"the holder is cut off for 12 seconds":            cut(14*time.Second, 12*time.Second),
		"the holder is cut off for a minute":              cut(14*time.Second, time.Minute),
		"the holder is cut off for good":                  cut(14*time.Second, 0),
		"the holder is cut off while it releases":         cut(120*time.Second, 20*time.Second),
		"the idle holder's connection is reset":           {timedFault(14*time.Second, 0, &sim.Reset{Process: "client-1", From: "redis-1"})},
		"the holder's connection is reset in a renewal":   {timedFault(15*time.Second+6*time.Millisecond, 0, &sim.Reset{Process: "client-1", From: "redis-1"})},
		"the connection is reset while client-1 acquires": {timedFault(3*time.Millisecond, 0, &sim.Reset{Process: "client-1", From: "redis-1"})},
		"the connection is reset while client-1 releases": {timedFault(120*time.Second+17*time.Millisecond, 0, &sim.Reset{Process: "client-1", From: "redis-1"})},
		"all answers come too late":                       {timedFault(0, 0, &sim.Delay{Process: "redis-1", To: "client-1", By: 30 * time.Millisecond})},
		"answers come too late for the first second":      {timedFault(0, time.Second, &sim.Delay{Process: "redis-1", To: "client-1", By: 18 * time.Millisecond})},
		"the holder crashes":                              {timedFault(14*time.Second, 0, &sim.CrashFault{Process: "client-1"})},
		"the node restarts":                               {timedFault(14*time.Second, time.Second, &sim.CrashFault{Process: "redis-1"})},
		"the node restarts while client-1 acquires":       {timedFault(3*time.Millisecond, time.Second, &sim.CrashFault{Process: "redis-1"})},
		"the node loses power":                            {timedFault(14*time.Second, 0, &sim.CrashFault{Process: "redis-1", How: trace.PowerLoss})},
		"the node is paused":                              {timedFault(14*time.Second, 20*time.Second, &sim.Pause{Process: "redis-1"})},
		"the node's clock jumps":                          {timedFault(14*time.Second, 0, &sim.Jump{Process: "redis-1", By: time.Hour})},
	}
	for name, faults := range worlds {
		for _, kind := range rueidislockKinds {
			t.Run(name+"/"+kind, func(t *testing.T) {
				cfg := longWork(t, kind)
				cfg.Faults = faults
				switch name {
				case "the holder crashes":
					cfg.Clients[1].Starts = point("client-1 crashed")
				case "all answers come too late":
					cfg.Clients[0].Attempts = 3
					cfg.Clients[1].Starts = point("client-1 failed to acquire")
					cfg.Clients[1].Attempts = 3
				}
				want := runWithoutDoubts(t, cfg)
				cfg.Disturb = func() {
					for range rand.IntN(4) {
						runtime.Gosched()
					}
				}
				for i := range 3 {
					runtime.GOMAXPROCS(1 << (i % 3))
					if got := runWithoutDoubts(t, cfg); got.Hash() != want.Hash() {
						t.Fatalf("run %d differs: %s", i+2, trace.FirstDifference(want, got))
					}
				}
			})
		}
	}
}

// If a client ends without a release, the goroutines of the library remain. The world must
// be able to end nevertheless.
func TestRueidislockThatIsNeverReleased(t *testing.T) {
	for _, name := range rueidislockKinds {
		kind, _ := locks.Lookup(name)
		for what, faults := range map[string][]sim.Fault{
			"no fault":                      nil,
			"the holder is paused for good": {timedFault(14*time.Second, 0, &sim.Pause{Process: "client-1"})},
			"the node is cut off":           {timedFault(14*time.Second, 0, &sim.Partition{Process: "client-1", From: []string{"redis-1"}})},
			"the node is down":              {timedFault(14*time.Second, 0, &sim.CrashFault{Process: "redis-1"})},
			"a renewal is still on its way": {timedFault(time.Second, 0, &sim.Delay{Process: "client-1", To: "redis-1", By: 50 * time.Second})},
		} {
			cfg := world(t, name, sim.Client{Name: "client-1", Run: func(ctx context.Context, p *sim.Program) error {
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
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
	}
}

// The following tests show what the library does wrong by itself, at the version that
// go.mod names. If one of them fails after an update, the library has been fixed: then
// update the description of the lock.

// A renewal is due half a TTL after the one before. If it gets no answer, rueidislock
// repeats it for a whole TTL. So the holder learns that it has lost the lock half a TTL
// after its keys have expired. By then, another client holds the lock.
func TestRueidislockNotifiesOfALossTooLate(t *testing.T) {
	cfg := world(t, "rueidislock",
		sim.Client{Name: "client-1", Works: 4 * ttl},
		sim.Client{Name: "client-2", Starts: point("client-1's keys expired")})
	cfg.Faults = []sim.Fault{timedFault(ttl/3, 0, &sim.Partition{Process: "client-1", From: []string{"redis-1"}})}
	tr := runWithoutDoubts(t, cfg)
	near(t, "the keys expired", first(t, tr, trace.KindExpire, "redis-1").At, ttl)
	near(t, "client-2 got the lock", firstStepEnd(t, tr, "client-2", trace.Acquire).At, ttl)
	near(t, "client-1 was notified", first(t, tr, trace.KindLost, "client-1").At, ttl*3/2)
}

// The first renewal is due half a TTL after the keys were acquired, even if the keys have
// less time left. So after a pause of more than half a TTL within the attempt, the keys
// expire, and the holder is not notified.
func TestRueidislockRenewsTooLateAfterASlowAttempt(t *testing.T) {
	const pause = 20 * time.Second
	for _, kind := range rueidislockKinds {
		cfg := world(t, kind,
			sim.Client{Name: "client-1", Works: 4 * ttl},
			sim.Client{Name: "client-2", Starts: point("client-1's keys expired")})
		cfg.Faults = []sim.Fault{{
			// The first reply only says that the node does not know the script yet.
			Strikes: trace.Trigger{When: point("redis-1's reply to client-1's acquire is in flight, 2nd time")},
			For:     pause, Action: &sim.Pause{Process: "client-1"}, Text: "pause client-1",
		}}
		tr := runWithoutDoubts(t, cfg)
		if n := count(tr, trace.KindRanOn, "client-1"); n != 0 {
			t.Errorf("%s: client-1 ran on while it was paused", kind)
		}
		near(t, "client-1 got the lock", firstStepEnd(t, tr, "client-1", trace.Acquire).At, pause)
		near(t, "the keys expired", first(t, tr, trace.KindExpire, "redis-1").At, ttl)
		near(t, "client-2 got the lock", firstStepEnd(t, tr, "client-2", trace.Acquire).At, ttl)
		near(t, "client-1 was notified", first(t, tr, trace.KindLost, "client-1").At, pause+ttl/2)
		if released := firstStepEnd(t, tr, "client-1", trace.Release); released.OK || released.Text != locks.ErrLost.Error() {
			t.Errorf("%s: client-1's release of a lost lock: %q", kind, released.Text)
		}
	}
}

// If the response to a SET NX is lost, rueidislock sends the command again, and it finds
// the key that it has set itself. The library takes that key for another client's and does
// not delete it. So no client can acquire the lock before the key expires.
func TestRueidislockTakesItsOwnKeyForAnothers(t *testing.T) {
	// blocked means that client-1's own key blocks it.
	for kind, blocked := range map[string]bool{"rueidislock": true, "rueidislock-strict": false} {
		cfg := world(t, kind,
			sim.Client{Name: "client-1", Attempts: 1},
			sim.Client{Name: "client-2", RetryEvery: 10 * time.Millisecond, Starts: point("client-1 finished")})
		// The client must have time to connect again within the 20ms of the first key.
		cfg.Network = sim.Network{Min: 500 * time.Microsecond, Max: time.Millisecond}
		cfg.Faults = []sim.Fault{{
			Strikes: trace.Trigger{When: point("redis-1's reply to client-1's acquire is in flight, 2nd time")},
			Action:  &sim.Reset{Process: "client-1", From: "redis-1"}, Text: "reset client-1 from redis-1",
		}}
		tr := runWithoutDoubts(t, cfg)
		got := firstStepEnd(t, tr, "client-1", trace.Acquire)
		if got.OK == blocked || blocked && !strings.Contains(got.Text, "held by others") {
			t.Errorf("%s: client-1 got the lock: %v (%s), want %v", kind, got.OK, got.Text, !blocked)
		}
		free := time.Duration(0)
		if blocked {
			free = ttl
		}
		for _, ev := range tr.Events {
			if ev.Kind == trace.KindEnd && ev.Process == "client-2" && ev.Step == trace.Acquire && ev.OK {
				near(t, kind+": client-2 got the lock", ev.At, free)
			}
		}
	}
}

// The client computes by its own clock when a key expires, but the node applies this time
// by its own. A node whose clock is ahead by a TTL sets keys that have already expired, and
// reports success. So every client is granted the lock.
func TestRueidislockTrustsTheNodesClock(t *testing.T) {
	for _, kind := range rueidislockKinds {
		cfg := world(t, kind,
			sim.Client{Name: "client-1", Works: time.Second},
			sim.Client{Name: "client-2", Starts: point("client-1 acquired")})
		cfg.Faults = []sim.Fault{timedFault(0, 0, &sim.Jump{Process: "redis-1", By: ttl + time.Second})}
		tr := runWithoutDoubts(t, cfg)
		for _, client := range []string{"client-1", "client-2"} {
			if got := firstStepEnd(t, tr, client, trace.Acquire); !got.OK || got.At > time.Second {
				t.Errorf("%s: %s got the lock: %v, at %v; want it immediately", kind, client, got.OK, got.At)
			}
		}
	}
}

// An attempt that fails first deletes the keys that it may have set. If the node does not
// answer, the attempt tries this for a TTL before it returns.
func TestRueidislockFailsSlowly(t *testing.T) {
	cfg := world(t, "rueidislock", sim.Client{Name: "client-1", Attempts: 1})
	cfg.Faults = []sim.Fault{timedFault(0, 0, &sim.CrashFault{Process: "redis-1"})}
	failed := firstStepEnd(t, runWithoutDoubts(t, cfg), "client-1", trace.Acquire)
	// The last pause before another try is one second.
	if failed.OK || failed.At < ttl-time.Second || failed.At > ttl {
		t.Errorf("the attempt ended at %v (%s), want a second before %v at most", failed.At, failed.Text, ttl)
	}
}
