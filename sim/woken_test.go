package sim_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// sleepers are goroutines of one process, which timers of a library wake at the same time.
// Each of them then calls WaitAfterTimer with its word, and records when that returned.
type sleepers struct {
	mu   sync.Mutex
	woke []string        // the words, in the order in which the goroutines continued
	at   []time.Duration // when the goroutines continued, in the same order
}

// client returns a client with a goroutine for each word. All timers are due at 2 s.
func (s *sleepers) client(t *testing.T, words ...string) sim.Client {
	return Client(t, "client-1", func(_ context.Context, p *sim.Program) error {
		var all sync.WaitGroup
		for _, word := range words {
			all.Go(func() {
				SleepUntil(2 * time.Second) // true time: a library uses package time
				p.Env().WaitAfterTimer(context.Background(), word)
				s.mu.Lock()
				defer s.mu.Unlock()
				s.woke, s.at = append(s.woke, word), append(s.at, Now())
			})
		}
		all.Wait()
		return nil
	})
}

// Goroutines that timers have woken continue when the process runs, each in a moment of its
// own, in the order of their words. The trace does not say that the process ran while it
// was paused.
func TestWoken(t *testing.T) {
	stopped := Lasting(3*time.Second, At(time.Second, PauseOf("client-1")))
	suspended := Lasting(3*time.Second, At(time.Second, SuspensionOf("client-1")))
	again := Lasting(2*time.Second, When("client-1 resumed", PauseOf("client-1")))
	for name, test := range map[string]struct {
		faults []sim.Fault
		at     time.Duration // when the first goroutine continues
	}{
		"no pause":     {nil, 2 * time.Second},
		"stop":         {[]sim.Fault{stopped}, 4 * time.Second},
		"suspend":      {[]sim.Fault{suspended}, 4 * time.Second},
		"paused again": {[]sim.Fault{stopped, again}, 6 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			for range 30 {
				var s sleepers
				cfg := WithFaults(ToyWorld(s.client(t, "renew", "close", "tell")), test.faults...)
				cfg.Disturb = YieldRandomly
				tr := RunWorld(t, cfg)
				AllFaultsStruck(t, tr)
				NoEvents(t, tr, trace.KindRanOn, "client-1")
				Equal(t, "the doubts", strings.Join(tr.Doubts, ", "), "")
				Equal(t, "the order of the goroutines", strings.Join(s.woke, " "), "close renew tell")
				EqualTime(t, "the first goroutine continued", s.at[0], test.at)
				if s.at[0] >= s.at[1] || s.at[1] >= s.at[2] {
					t.Fatalf("the goroutines continued at %v, want each later than the one before", s.at)
				}
			}
		})
	}
}

// Two timers are due at the same time: one wakes a goroutine, and the other ends its
// context. Chance decides which fires first. In both cases the goroutine gets no moment of
// its own, and the other goroutines continue as if it did not exist.
func TestWokenAsTheContextEnds(t *testing.T) {
	const due = 2 * time.Second
	// run returns when the goroutine continues that renews. With asks there is also a
	// goroutine whose context ends when its timer is due.
	run := func(asks bool) (at time.Duration) {
		cfg := ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
			var all sync.WaitGroup
			if asks {
				all.Go(func() {
					ctx, cancel := context.WithTimeout(ctx, due-Now())
					defer cancel()
					SleepUntil(due)
					for range 3 {
						p.Env().WaitAfterTimer(ctx, "ask")
						if ctx.Err() == nil {
							t.Error("WaitAfterTimer returned, and the context has not ended")
						}
					}
				})
			}
			all.Go(func() {
				SleepUntil(due)
				p.Env().WaitAfterTimer(context.Background(), "renew")
				at = Now()
			})
			all.Wait()
			return nil
		}))
		cfg.Disturb = YieldRandomly
		RunWorld(t, cfg)
		return at
	}
	alone := run(false)
	for range 30 {
		Equal(t, "when the goroutine that renews continued", run(true), alone)
	}
}

// A timer that is due now fires before the next goroutine gets its moment, although that goroutine
// has waited longer: timers that are due come first.
func TestTimerBeforeMoment(t *testing.T) {
	for range 30 {
		var order []string
		cfg := ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
			var all sync.WaitGroup
			all.Go(func() {
				SleepUntil(2 * time.Second)
				p.Env().WaitAfterTimer(ctx, "close")
				order = append(order, "close")
				if err := p.Clock().Sleep(ctx, 0); err != nil {
					t.Error(err)
				}
				order = append(order, "timer")
			})
			all.Go(func() {
				SleepUntil(2 * time.Second)
				p.Env().WaitAfterTimer(ctx, "renew")
				order = append(order, "renew")
			})
			all.Wait()
			return nil
		}))
		cfg.Disturb = YieldRandomly
		RunWorld(t, cfg)
		Equal(t, "the order of the goroutines", strings.Join(order, " "), "close timer renew")
	}
}

// Goroutines with the same words cannot be put in order, so the run gets a doubt.
func TestWokenWithEqualWords(t *testing.T) {
	var s sleepers
	tr := RunWorld(t, ToyWorld(s.client(t, "renew", "renew")))
	if len(tr.Doubts) != 1 || !strings.Contains(tr.Doubts[0], "at the same moment") {
		t.Errorf("the doubts are %q, want one about goroutines at the same moment", tr.Doubts)
	}
}

// If a world ends while goroutines wait in WaitAfterTimer, they can end.
func TestEndWhileWoken(t *testing.T) {
	for _, horizon := range []time.Duration{2 * time.Second, 2*time.Second + 1, 3 * time.Second, 4 * time.Second, 4*time.Second + 1} {
		t.Run(fmt.Sprint(horizon), func(t *testing.T) {
			var s sleepers
			cfg := WithFaults(ToyWorld(s.client(t, "renew", "close", "tell")), Lasting(3*time.Second, At(time.Second, PauseOf("client-1"))))
			cfg.Horizon = horizon
			RunWorld(t, cfg)
			Equal(t, "number of goroutines that continued", len(s.woke), 3)
		})
		t.Run(fmt.Sprint(horizon, " without a pause"), func(t *testing.T) {
			var s sleepers
			cfg := ToyWorld(s.client(t, "renew", "close", "tell"))
			cfg.Horizon = horizon
			RunWorld(t, cfg)
			Equal(t, "number of goroutines that continued", len(s.woke), 3)
		})
	}
}

// In a crashed process, WaitAfterTimer does not return before the world ends.
func TestWokenInACrashedProcess(t *testing.T) {
	var s sleepers
	RunWorld(t, WithFaults(ToyWorld(s.client(t, "renew"), Client(t, "client-2", func(_ context.Context, p *sim.Program) error {
		SleepUntil(time.Minute)
		return nil
	})), At(time.Second, CrashOf("client-1", trace.Kill))))
	if s.at[0] < time.Minute {
		t.Errorf("the goroutine of the crashed process continued at %v, want only at the end of the world, 1m", s.at[0])
	}
}
