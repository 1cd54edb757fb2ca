package locks_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/locks"
)

// bubbleTime is a clock that shows the true time of a bubble.
type bubbleTime struct {
	began time.Time
	alarm *time.Timer // nil before it was set
}

func (b *bubbleTime) Now() time.Duration { return time.Since(b.began) }

func (b *bubbleTime) SetAlarm(t time.Duration, ring func()) {
	b.ClearAlarm()
	b.alarm = time.AfterFunc(t-b.Now(), ring)
}

func (b *bubbleTime) ClearAlarm() {
	if b.alarm != nil {
		b.alarm.Stop()
	}
}

// newFake returns the clocks of a process, which show the true time of the bubble.
func newFake() *fakeclock.Fake {
	return fakeclock.New(&bubbleTime{began: time.Now()}, time.Now())
}

// onOwnLocks runs a test on every lock that reads the process's clock and has all the
// features. drift is how much the lock subtracts from a TTL of 30 s for the drift of
// clocks.
func onOwnLocks(t *testing.T, test func(t *testing.T, c *cluster, kind string, drift time.Duration), features ...string) {
	t.Helper()
	tested := 0
	for _, name := range locks.Names() {
		k, _ := locks.Lookup(name)
		if !k.OwnClock || slices.ContainsFunc(features, func(f string) bool { return !slices.Contains(k.Features, f) }) {
			continue
		}
		tested++
		nodes, drift := 1, time.Duration(0)
		if name == "redlock" {
			nodes, drift = 5, 302*time.Millisecond
		}
		t.Run(name, func(t *testing.T) {
			inBubble(t, nodes, func(t *testing.T, c *cluster) { test(t, c, name, drift) })
		})
	}
	if tested < 2 {
		t.Errorf("%d locks have the features %q, want at least 2", tested, features)
	}
}

// slowNodes makes every node answer a SET after two TTLs, and returns a setting that makes
// locks wait for the answer.
func slowNodes(c *cluster) setting {
	for _, n := range c.Nodes {
		n.AnswerDelay = slowSet(2 * ttl)
	}
	return func(e *locks.Env) {
		e.Options.NodeTimeout = time.Hour
		if len(c.Nodes) > 1 {
			e.Options.Ask = locks.AllAtOnce
		}
	}
}

// A lock refuses a grant whose answer came only after the lease had ended.
func TestElapsedCheck(t *testing.T) {
	onOwnLocks(t, func(t *testing.T, c *cluster, kind string, drift time.Duration) {
		mustContain(t, mustNotAcquire(t, c.Client(t, kind, slowNodes(c))), (ttl + drift).String())
		equalNodes(t, "nodes with the key after an attempt that took too long", c.HeldNodes(), nil)

		lease := acquire(t, c.Client(t, kind, slowNodes(c), without("elapsed-check")))
		if got := timeLeft(t, lease, fakeclock.System()); got != ttl-drift {
			t.Errorf("without the check the lease is valid for %v, want %v", got, ttl-drift)
		}
	}, "elapsed-check")
}

// A client whose clock is fast refuses a grant that has not expired on the node, and
// removes the key.
func TestRefusedGrantIsReleased(t *testing.T) {
	onOwnLocks(t, func(t *testing.T, c *cluster, kind string, drift time.Duration) {
		clock := newFake()
		defer clock.Close()
		if err := clock.SetRate(900_000_000); err != nil {
			t.Fatal(err)
		}
		patient := slowNodes(c)
		for _, n := range c.Nodes {
			n.AnswerDelay = slowSet(ttl * 2 / 3)
		}
		mustNotAcquire(t, c.Client(t, kind, patient, withClock("", clock)))
		equalNodes(t, "nodes with the key after an attempt that took too long", c.HeldNodes(), nil)
	}, "elapsed-check")
}

// The answer takes two TTLs, and in most cases something happens to the clocks meanwhile.
// The test shows whether the lock notices how long the answer took.
func TestElapsedCheckByClock(t *testing.T) {
	tests := []struct {
		name    string
		clock   fakeclock.Kind        // the clock that the lock reads
		fault   func(*fakeclock.Fake) // what happens to the clocks
		granted bool                  // whether the lock wrongly counts as granted
	}{
		{"wall clock", fakeclock.Wall, func(*fakeclock.Fake) {}, false},
		{"monotonic clock", fakeclock.Monotonic, func(*fakeclock.Fake) {}, false},
		{"wall clock set back", fakeclock.Wall, func(c *fakeclock.Fake) { c.Jump(-2 * ttl) }, true},
		{"monotonic clock, wall clock set back", fakeclock.Monotonic, func(c *fakeclock.Fake) { c.Jump(-2 * ttl) }, false},
		{"the default clock, wall clock set back", "", func(c *fakeclock.Fake) { c.Jump(-2 * ttl) }, false},
		{"wall clock of a suspended machine", fakeclock.Wall, suspendForTwoTTLs, false},
		{"monotonic clock of a suspended machine", fakeclock.Monotonic, suspendForTwoTTLs, true},
		{"monotonic clock of a stopped process", fakeclock.Monotonic, func(c *fakeclock.Fake) { c.Stop() }, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			onOwnLocks(t, func(t *testing.T, c *cluster, kind string, drift time.Duration) {
				clock := newFake()
				defer clock.Close()
				go func() {
					time.Sleep(time.Second)
					test.fault(clock)
				}()
				lease, err := c.Client(t, kind, slowNodes(c), withClock(test.clock, clock)).Acquire(t.Context())
				if granted := err == nil; granted != test.granted {
					t.Fatalf("Acquire returned %v, so the lock is granted: %v; want %v", err, granted, test.granted)
				}
				if test.granted && timeLeft(t, lease, clock) <= 0 {
					t.Error("the ended lease has no time left on the lock's clock, want some")
				}
			}, "elapsed-check")
		})
	}
}

// suspendForTwoTTLs suspends the machine for almost two TTLs.
func suspendForTwoTTLs(c *fakeclock.Fake) {
	c.Suspend()
	time.Sleep(2*ttl - 2*time.Second)
	c.Resume()
}

// An extension whose answer came only after the new lease had ended returns ErrLost.
func TestElapsedCheckOfExtend(t *testing.T) {
	onOwnLocks(t, func(t *testing.T, c *cluster, kind string, drift time.Duration) {
		// patient makes the lock wait for late answers.
		patient := func(e *locks.Env) {
			e.Options.NodeTimeout = time.Hour
			if kind == "redlock" {
				e.Options.Ask = locks.AllAtOnce
			}
		}
		extendLate := func(settings ...setting) error {
			lease := acquire(t, c.Client(t, kind, append(settings, patient)...))
			for _, n := range c.Nodes {
				n.AnswerDelay = func(command string) time.Duration {
					if command == "PEXPIRE" {
						return 2 * ttl
					}
					return 0
				}
				defer func() { n.AnswerDelay = slowSet(0) }()
			}
			return extend(t, lease)
		}
		if err := extendLate(); !errors.Is(err, locks.ErrLost) {
			t.Errorf("an extension that took two TTLs returned %v, want ErrLost", err)
		}
		if err := extendLate(without("elapsed-check")); err != nil {
			t.Errorf("without the check, an extension that took two TTLs returned %v, want no error", err)
		}
	}, "elapsed-check", "extend")
}

func TestDriftAllowance(t *testing.T) {
	inBubble(t, 5, func(t *testing.T, c *cluster) {
		lease := acquire(t, c.Client(t, "redlock"))
		if got := timeLeft(t, lease, fakeclock.System()); got != ttl-302*time.Millisecond {
			t.Errorf("the lease is valid for %v, want the TTL less a hundredth and 2ms", got)
		}
		release(t, lease)
		lease = acquire(t, c.Client(t, "redlock", without("drift-allowance")))
		if got := timeLeft(t, lease, fakeclock.System()); got != ttl {
			t.Errorf("without the allowance the lease is valid for %v, want the TTL", got)
		}
	})
}

func TestNodeTimeout(t *testing.T) {
	tests := []struct {
		name     string
		kind     string
		settings []setting
		took     time.Duration // how long Acquire takes if the first node does not answer
	}{
		{"redlock's default", "redlock", nil, 50 * time.Millisecond},
		{"redlock with a timeout of 1s", "redlock", []setting{func(e *locks.Env) { e.Options.NodeTimeout = time.Second }}, time.Second},
		{"redlock without a timeout", "redlock", []setting{without("node-timeout")}, 10 * time.Second},
		{"single has no timeout by default", "single", nil, 10 * time.Second},
		{"the circuit breaker's default", "circuit-breaker", nil, time.Second},
		{"single with a timeout of 1s", "single", []setting{func(e *locks.Env) { e.Options.NodeTimeout = time.Second }}, time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, 5, func(t *testing.T, c *cluster) {
				c.Nodes[0].AnswerDelay = slowSet(10 * time.Second)
				began := time.Now()
				_, err := c.Client(t, test.kind, test.settings...).Acquire(t.Context())
				if took := time.Since(began); took != test.took {
					t.Errorf("Acquire took %v (%v), want %v", took, err, test.took)
				}
			})
		})
	}
}

// A process that is stopped while it dials has the same time left for the dial when it
// continues.
func TestDialIsBoundedByTheProcesssClock(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		clock := newFake()
		defer clock.Close()
		var gaveUp time.Duration
		began := time.Now()
		hang := func(e *locks.Env) {
			e.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
				<-ctx.Done()
				gaveUp = time.Since(began)
				return nil, ctx.Err()
			}
		}
		l := c.Client(t, "single", withClock("", clock), hang)
		go func() {
			time.Sleep(time.Second)
			clock.Suspend()
			time.Sleep(time.Minute)
			clock.Resume()
		}()
		mustNotAcquire(t, l)
		if want := time.Minute + 5*time.Second; gaveUp != want {
			t.Errorf("the dial was given up after %v, want %v: 5s on the process's clock", gaveUp, want)
		}
	})
}

func TestFreshValue(t *testing.T) {
	onOwnLocks(t, func(t *testing.T, c *cluster, kind string, drift time.Duration) {
		values := func(l locks.Lock) (first, second string) {
			for _, value := range []*string{&first, &second} {
				lease := acquire(t, l)
				*value, _ = c.Nodes[0].Get(key)
				release(t, lease)
			}
			return first, second
		}
		first, second := values(c.Client(t, kind))
		if first == second || len(first) != 32 {
			t.Errorf("two attempts set the values %q and %q, want two random values", first, second)
		}
		first, second = values(c.Client(t, kind, without("fresh-value")))
		if first != second || len(first) != 32 {
			t.Errorf("without fresh-value two attempts set the values %q and %q, want one value", first, second)
		}
	}, "fresh-value")
}

func TestValueCheck(t *testing.T) {
	onOwnLocks(t, func(t *testing.T, c *cluster, kind string, drift time.Duration) {
		// forget deletes the key on all nodes.
		forget := func() {
			for _, n := range c.Nodes {
				n.Del(key)
			}
		}
		// overtaken returns a lease whose key was deleted, and was then set by another
		// client.
		overtaken := func(settings ...setting) locks.Lease {
			lease := acquire(t, c.Client(t, kind, settings...))
			forget()
			acquire(t, c.Client(t, kind))
			return lease
		}
		before := overtaken()
		held := c.HeldNodes()
		if err := before.Release(t.Context()); !errors.Is(err, locks.ErrLost) {
			t.Errorf("Release returned %v when another client held the lock, want ErrLost", err)
		}
		equalNodes(t, "nodes with the other client's key after a release that checks the value", c.HeldNodes(), held)
		forget()
		release(t, overtaken(without("value-check")))
		equalNodes(t, "nodes with the other client's key after a release that does not check the value", c.HeldNodes(), nil)
	}, "value-check")
}

func TestWithoutExtend(t *testing.T) {
	onOwnLocks(t, func(t *testing.T, c *cluster, kind string, drift time.Duration) {
		if _, ok := acquire(t, c.Client(t, kind, without("extend"))).(locks.Extender); ok {
			t.Error("without the feature extend the lease can still be extended")
		}
	}, "extend")
}

// A TTL with a fraction of a millisecond is rounded so that the lease does not outlast its
// key.
func TestKeyLivesAtLeastAsLongAsItsLease(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		acquire(t, c.Client(t, "single", withTTL(1500*time.Microsecond)))
		time.Sleep(1500*time.Microsecond - 1)
		synctest.Wait()
		mustNotAcquire(t, c.Client(t, "single"))
	})
}
