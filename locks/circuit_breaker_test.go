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

// quickBreaker makes the circuit open after a few failures, and only for a short time.
func quickBreaker(e *locks.Env) { e.Options.Failures, e.Options.OpenFor = 3, 10*time.Second }

// openCircuit opens the circuit, by requests to a node that does not answer.
func openCircuit(t *testing.T, c *cluster, l locks.Lock) {
	t.Helper()
	c.Nodes[0].Mute = true
	for range 3 {
		began := time.Now()
		mustContain(t, mustNotAcquire(t, l), "timed out")
		if took := time.Since(began); took != time.Second {
			t.Fatalf("an attempt at a node that does not answer took %v, want 1s", took)
		}
	}
}

func TestCircuitOpens(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		l := c.Client(t, "circuit-breaker", quickBreaker)
		openCircuit(t, c, l)
		c.Nodes[0].Mute = false
		began := time.Now()
		time.Sleep(10*time.Second - 1)
		if text, want := mustNotAcquire(t, l), "lock not acquired: too many requests have failed, and the node is not asked again for 1ns"; text != want {
			t.Errorf("the error is %q, want %q", text, want)
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
		l := c.Client(t, "circuit-breaker", quickBreaker)
		openCircuit(t, c, l)
		for range 2 {
			time.Sleep(10 * time.Second)
			mustContain(t, mustNotAcquire(t, l), "timed out")
			mustContain(t, mustNotAcquire(t, l), "is not asked again for 10s")
		}
	})
}

// While a probe is in progress, other attempts are refused.
func TestOneProbeAtATime(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		l := c.Client(t, "circuit-breaker", quickBreaker)
		openCircuit(t, c, l)
		time.Sleep(10 * time.Second)
		go func() {
			_, _ = l.Acquire(t.Context()) // the probe
		}()
		synctest.Wait()
		mustContain(t, mustNotAcquire(t, l), "is not asked again for 10s")
	})
}

// A refusal shows that the node is healthy.
func TestRefusalsDoNotOpenTheCircuit(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		l := c.Client(t, "circuit-breaker", quickBreaker)
		c.TakeKey(t, 1)
		for range 10 {
			c.Nodes[0].CutsAfter = takesKey
			for range 2 {
				mustNotAcquire(t, l)
			}
			c.Nodes[0].CutsAfter = func(string) bool { return false }
			mustContain(t, mustNotAcquire(t, l), "another client holds it")
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
				t.Fatalf("Acquire with a cancelled context returned %v, want Canceled", err)
			}
		}
		release(t, acquire(t, l))
	})
}

// With the fallback go-ahead, an open circuit grants the lock to every client, without a
// request to the node.
func TestGoAhead(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		first := c.Client(t, "circuit-breaker", quickBreaker, withFallback(locks.GoAhead))
		second := c.Client(t, "circuit-breaker", quickBreaker, withFallback(locks.GoAhead))
		openCircuit(t, c, first)
		openCircuit(t, c, second)
		// Both clients are granted the lock at the same time.
		lease := acquire(t, first)
		acquire(t, second)
		if got := token(t, lease); got != 0 {
			t.Errorf("a lease that no node granted has the token %d, want 0", got)
		}
		for range 2 {
			if got := timeLeft(t, lease, fakeclock.System()); got != ttl {
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

// When the node is healthy again, the lock excludes other clients again.
func TestGoAheadEnds(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		l := c.Client(t, "circuit-breaker", quickBreaker, withFallback(locks.GoAhead))
		openCircuit(t, c, l)
		acquire(t, l)
		c.Nodes[0].Mute = false
		c.TakeKey(t, 1)
		time.Sleep(10 * time.Second)
		mustContain(t, mustNotAcquire(t, l), "another client holds it")
	})
}

func TestCircuitWithOptions(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		c.Nodes[0].Mute = true
		l := c.Client(t, "circuit-breaker", func(e *locks.Env) { e.Options.Failures, e.Options.OpenFor = 2, time.Minute })
		for range 2 {
			mustContain(t, mustNotAcquire(t, l), "timed out")
		}
		mustContain(t, mustNotAcquire(t, l), "is not asked again for 1m0s")
	})
}

// By default the circuit opens after five failures, for a minute.
func TestCircuitWithDefaults(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		c.Nodes[0].Mute = true
		l := c.Client(t, "circuit-breaker")
		for range 5 {
			mustContain(t, mustNotAcquire(t, l), "timed out")
		}
		mustContain(t, mustNotAcquire(t, l), "is not asked again for 1m0s")
	})
}

// twoHandles returns two handles of one process on the same lock.
func twoHandles(t *testing.T, c *cluster) (first, second locks.Lock) {
	t.Helper()
	e := c.Env()
	withFallback(locks.Local)(e)
	e.Options.Failures = 1
	kind, _ := locks.Lookup("circuit-breaker")
	var made [2]locks.Lock
	for i := range made {
		l, err := kind.New(e)
		if err != nil {
			t.Fatal(err)
		}
		made[i] = l
	}
	t.Cleanup(func() { e.Close() })
	return made[0], made[1]
}

// The local lock excludes the other handles of the process, but not those of other
// processes.
func TestLocalLock(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		first, second := twoHandles(t, c)
		other, _ := twoHandles(t, c)
		c.Nodes[0].Mute = true
		for _, l := range []locks.Lock{first, second, other} {
			mustContain(t, mustNotAcquire(t, l), "timed out")
		}
		lease := acquire(t, first)
		if got := token(t, lease); got != 0 {
			t.Errorf("a lease of the local lock has the token %d, want 0", got)
		}
		mustContain(t, mustNotAcquire(t, second), "another handle of this process holds it")
		acquire(t, other)
		if err := extend(t, lease); err != nil {
			t.Error(err)
		}
		release(t, lease)
		again := acquire(t, second)
		release(t, lease) // a second release changes nothing
		mustContain(t, mustNotAcquire(t, first), "another handle of this process holds it")
		release(t, again)
	})
}

// While a handle holds the lock in Redis, the handles of its process that fall back are
// refused.
func TestLocalLockWhileRedisGrantsTheLock(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		first, second := twoHandles(t, c)
		lease := acquire(t, first)
		if _, has := lease.(locks.Tokener); has {
			t.Error("a lease that Redis granted has a token, want none")
		}
		mustContain(t, mustNotAcquire(t, second), "another handle of this process holds it")
		equalNodes(t, "nodes with the key before the release", c.HeldNodes(), []int{1})
		release(t, lease)
		equalNodes(t, "nodes with the key after the release", c.HeldNodes(), nil)
		release(t, acquire(t, second))
	})
}

// If Redis refuses a handle, that handle does not keep the local lock.
func TestLocalLockIsFreeAfterARefusal(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		first, second := twoHandles(t, c)
		c.TakeKey(t, 1)
		for _, l := range []locks.Lock{first, second} {
			mustContain(t, mustNotAcquire(t, l), "another client holds it")
		}
	})
}
