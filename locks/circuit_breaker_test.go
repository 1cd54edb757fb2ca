package locks_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/locks"
)

// trip has the circuit open, with the node silent.
func trip(t *testing.T, c *cluster, l locks.Lock) {
	t.Helper()
	c.Nodes[0].Mute = true
	for range 3 {
		began := time.Now()
		contains(t, fail(t, l), "timed out")
		if took := time.Since(began); took != time.Second {
			t.Fatalf("an attempt at a silent node took %v, want 1s", took)
		}
	}
}

func TestCircuitOpens(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		l := c.Client(t, "circuit-breaker")
		trip(t, c, l)
		c.Nodes[0].Mute = false
		began := time.Now()
		time.Sleep(10*time.Second - 1)
		if text, want := fail(t, l), "lock not acquired: too many requests have failed, and the node is not asked again for 1ns"; text != want {
			t.Errorf("error %q, want %q", text, want)
		}
		if sent := c.Commands(); len(sent) > 0 {
			t.Errorf("commands were sent through an open circuit: %q", sent)
		}
		time.Sleep(time.Nanosecond)
		release(t, acquire(t, l))
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("the circuit was open for %v, want 10s", took)
		}
	})
}

func TestCircuitOpensAgainAfterOneFailedProbe(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		l := c.Client(t, "circuit-breaker")
		trip(t, c, l)
		for range 2 {
			time.Sleep(10 * time.Second)
			contains(t, fail(t, l), "timed out")
			contains(t, fail(t, l), "is not asked again for 10s")
		}
	})
}

func TestOneProbeAtATime(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		l := c.Client(t, "circuit-breaker")
		trip(t, c, l)
		time.Sleep(10 * time.Second)
		go func() {
			_, _ = l.Acquire(t.Context()) // the probe
		}()
		synctest.Wait()
		contains(t, fail(t, l), "is not asked again for 10s")
	})
}

// The node is well as long as it says no.
func TestRefusalsDoNotOpenTheCircuit(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		l := c.Client(t, "circuit-breaker")
		c.Take(t, 1)
		for range 10 {
			c.Nodes[0].Cut = takes
			for range 2 {
				fail(t, l)
			}
			c.Nodes[0].Cut = func(string) bool { return false }
			contains(t, fail(t, l), "somebody else holds it")
		}
	})
}

func TestCancelledAttemptsDoNotOpenTheCircuit(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		l := c.Client(t, "circuit-breaker")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for range 10 {
			if _, err := l.Acquire(ctx); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		}
		release(t, acquire(t, l))
	})
}

func TestGoAhead(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		first := c.Client(t, "circuit-breaker", fallingBack(locks.GoAhead))
		second := c.Client(t, "circuit-breaker", fallingBack(locks.GoAhead))
		trip(t, c, first)
		trip(t, c, second)
		// Both are let in at once.
		lease := acquire(t, first)
		acquire(t, second)
		if got := token(t, lease); got != 0 {
			t.Errorf("a lease that nobody granted has the token %d", got)
		}
		for range 2 {
			if got := left(t, lease, fakeclock.System()); got != ttl {
				t.Errorf("the lease ends in %v, want one TTL after the call", got)
			}
			time.Sleep(time.Second)
			if err := extend(t, lease); err != nil {
				t.Error(err)
			}
		}
		release(t, lease)
		if sent := c.Commands(); len(sent) > 0 {
			t.Errorf("commands were sent to a node that does not answer: %q", sent)
		}
	})
}

// With its node well again the lock is a lock again.
func TestGoAheadEnds(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		l := c.Client(t, "circuit-breaker", fallingBack(locks.GoAhead))
		trip(t, c, l)
		acquire(t, l)
		c.Nodes[0].Mute = false
		c.Take(t, 1)
		time.Sleep(10 * time.Second)
		contains(t, fail(t, l), "somebody else holds it")
	})
}
