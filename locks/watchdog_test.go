package locks_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/locks"
)

// acquireWatched acquires a lease with a watchdog.
func acquireWatched(t *testing.T, c *cluster, settings ...setting) locks.Lease {
	t.Helper()
	return acquire(t, c.Client(t, "watchdog", settings...))
}

// renewals returns the channel of a lease's renewals.
func renewals(t *testing.T, l locks.Lease) <-chan fakeclock.Reading {
	t.Helper()
	r, ok := l.(locks.Renewer)
	if !ok {
		t.Fatal("the lease does not implement Renewer")
	}
	return r.Renewals()
}

// waitForLoss waits for the loss signal of a lease, and returns when it came.
func waitForLoss(t *testing.T, c *cluster, l locks.Lease) time.Duration {
	t.Helper()
	n, ok := l.(locks.Notifier)
	if !ok {
		t.Fatal("the lease has no loss signal")
	}
	<-n.Lost()
	return time.Since(c.Began)
}

// isLost reports whether the loss signal of a lease has come.
func isLost(l locks.Lease) bool {
	synctest.Wait()
	select {
	case <-l.(locks.Notifier).Lost():
		return true
	default:
		return false
	}
}

// renewalsEnded reports whether the channel of renewals has been closed.
func renewalsEnded(t *testing.T, l locks.Lease) bool {
	t.Helper()
	synctest.Wait()
	for {
		select {
		case _, more := <-renewals(t, l):
			if !more {
				return true
			}
		default:
			return false
		}
	}
}

func TestWatchdogRenews(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		lease := acquireWatched(t, c)
		for i := range 10 {
			ends := <-renewals(t, lease)
			if at, want := time.Since(c.Began), time.Duration(i+1)*ttl/3; at != want {
				t.Fatalf("renewal %d came after %v, want %v", i+1, at, want)
			}
			if got := timeLeft(t, lease, fakeclock.System()); got != ttl || ends != expires(t, lease) {
				t.Errorf("after a renewal the lease lasts %v, want %v; it ends at %v, and the renewal said %v",
					got, ttl, expires(t, lease), ends)
			}
			mustNotAcquire(t, c.Client(t, "watchdog"))
		}
		if isLost(lease) {
			t.Error("a renewed lease was reported as lost")
		}
		release(t, lease)
		acquire(t, c.Client(t, "single"))
	})
}

func TestWatchdogEndsWithTheRelease(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		lease := acquireWatched(t, c)
		time.Sleep(ttl / 2)
		release(t, lease)
		if !renewalsEnded(t, lease) || isLost(lease) {
			t.Error("after the release the channel of renewals must be closed, without a loss signal")
		}
		c.Commands()
		time.Sleep(time.Hour)
		if sent := c.Commands(); len(sent) > 0 || isLost(lease) {
			t.Errorf("after the release the watchdog sent %q, with a loss signal: %v; want neither", sent, isLost(lease))
		}
	})
}

// Release waits for an unfinished renewal, because two concurrent requests of one client
// could overtake each other.
func TestReleaseWaitsForARenewal(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		lease := acquireWatched(t, c)
		c.Change(func(n *node) { n.AnswerDelay = slowPexpire(2 * time.Second) })
		time.Sleep(ttl/3 + time.Second)
		release(t, lease)
		if at, want := time.Since(c.Began), ttl/3+2*time.Second; at != want {
			t.Errorf("released after %v, want when the renewal was answered: %v", at, want)
		}
		if ends, ok := <-renewals(t, lease); !ok || ends != expires(t, lease) {
			t.Errorf("the last renewal said %v, want %v", ends, expires(t, lease))
		}
		equalNodes(t, "nodes with the key after the release", c.HeldNodes(), nil)
	})
}

// slowPexpire delays the answers to renewals and extensions.
func slowPexpire(took time.Duration) func(string) time.Duration {
	return func(command string) time.Duration {
		if command == "PEXPIRE" {
			return took
		}
		return 0
	}
}

// The caller need not receive renewals. If it receives late, it gets the latest one.
func TestRenewalsNeedNoReceiver(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		lease := acquireWatched(t, c)
		time.Sleep(4*ttl + time.Second)
		if got := <-renewals(t, lease); got != expires(t, lease) {
			t.Errorf("received %v, want the latest end %v", got, expires(t, lease))
		}
		if got := timeLeft(t, lease, fakeclock.System()); got != ttl-time.Second {
			t.Errorf("the lease lasts %v, want %v", got, ttl-time.Second)
		}
	})
}

// The node does not answer the renewal at 10s. The watchdog gives that renewal up at 13s,
// and tries again at 16s.
func TestWatchdogRepeatsAFailedRenewal(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		lease := acquireWatched(t, c)
		c.Change(func(n *node) { n.AnswerDelay = slowPexpire(time.Minute) })
		time.Sleep(15 * time.Second)
		c.Change(func(n *node) { n.AnswerDelay = slowPexpire(0) })
		<-renewals(t, lease)
		if at := time.Since(c.Began); at != 16*time.Second {
			t.Errorf("the first renewal came after %v, want 16s", at)
		}
		<-renewals(t, lease)
		if at := time.Since(c.Began); at != 26*time.Second {
			t.Errorf("the second renewal came after %v, want 26s", at)
		}
	})
}

// The option NodeTimeout bounds each renewal.
func TestWatchdogGivesARenewalUpAfterNodeTimeout(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		acquireWatched(t, c, func(e *locks.Env) { e.Options.NodeTimeout = time.Second })
		c.Change(func(n *node) { n.AnswerDelay = slowPexpire(time.Minute) })
		time.Sleep(15 * time.Second)
		var sent []string
		for _, command := range c.Commands() {
			if command[len(command)-len("PEXPIRE"):] == "PEXPIRE" {
				sent = append(sent, command)
			}
		}
		if want := []string{"10s node 1 PEXPIRE", "12s node 1 PEXPIRE", "14s node 1 PEXPIRE"}; !slices.Equal(sent, want) {
			t.Errorf("the renewals are %q, want %q: each is given up after 1s, and repeated 1s later", sent, want)
		}
	})
}

// This is a common bug of watchdogs: the first error ends the renewals, while the work
// continues. The client does not notice, unless the lease has a loss signal.
func TestWatchdogThatEndsAfterAnError(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		silent := acquireWatched(t, c, without("retry-renewal", "loss-signal"))
		if _, notifies := silent.(locks.Notifier); notifies {
			t.Error("without the feature loss-signal the lease still has a loss signal")
		}
		c.Change(func(n *node) { n.CutsAfter = func(command string) bool { return command == "PEXPIRE" } })
		time.Sleep(11 * time.Second)
		c.Change(func(n *node) { n.CutsAfter = takesKey })
		if !renewalsEnded(t, silent) {
			t.Error("the renewals continue after an error")
		}
		// The renewal that failed for the client has reached the node, so the key exists
		// until 40s.
		time.Sleep(29 * time.Second)
		c.Change(func(n *node) { n.CutsAfter = func(string) bool { return false } })
		acquire(t, c.Client(t, "single"))
		if err := silent.Release(t.Context()); !errors.Is(err, locks.ErrLost) {
			t.Errorf("Release returned %v, want ErrLost", err)
		}
	})
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		lease := acquireWatched(t, c, without("retry-renewal"))
		c.Change(func(n *node) { n.CutsAfter = func(command string) bool { return command == "PEXPIRE" } })
		time.Sleep(11 * time.Second)
		if !renewalsEnded(t, lease) || isLost(lease) {
			t.Errorf("after an error the channel of renewals must be closed, without a loss signal yet")
		}
		if at := waitForLoss(t, c, lease); at != ttl {
			t.Errorf("the loss signal came after %v, want at the end of the lease, after %v", at, ttl)
		}
	})
}

func TestWatchdogNoticesAMissingKey(t *testing.T) {
	for _, gone := range []string{"deleted", "set by another client"} {
		inBubble(t, 1, func(t *testing.T, c *cluster) {
			lease := acquireWatched(t, c)
			time.Sleep(time.Second)
			c.Nodes[0].Del(key)
			if gone == "set by another client" {
				c.TakeKey(t, 1)
			}
			if at := waitForLoss(t, c, lease); at != ttl/3 {
				t.Errorf("the key was %s after 1s, and the loss signal came after %v; want it with the renewal, after %v", gone, at, ttl/3)
			}
			if !renewalsEnded(t, lease) {
				t.Error("the renewals continue after the loss")
			}
			if err := lease.Release(t.Context()); !errors.Is(err, locks.ErrLost) {
				t.Errorf("Release returned %v, want ErrLost", err)
			}
		})
	}
}

// However the node fails, the loss signal comes when the lease ends, not before, and not
// only when some request times out.
func TestWatchdogAndANodeThatFails(t *testing.T) {
	cutting := func(n *node) { n.CutsAfter = func(command string) bool { return command == "PEXPIRE" } }
	silent := func(n *node) { n.AnswerDelay = slowPexpire(time.Hour) }
	tests := []struct {
		name     string
		fail     func(*node)
		patience time.Duration // the option NodeTimeout
	}{
		{"the node closes connections", cutting, 0},
		{"the node does not answer", silent, 0},
		{"the node does not answer, and each renewal has a timeout of an hour", silent, time.Hour},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, 1, func(t *testing.T, c *cluster) {
				lease := acquireWatched(t, c, func(e *locks.Env) { e.Options.NodeTimeout = test.patience })
				c.Change(test.fail)
				if at := waitForLoss(t, c, lease); at != ttl {
					t.Errorf("the loss signal came after %v, want at the end of the lease, after %v", at, ttl)
				}
			})
		})
	}
}

// A node that answers late, but within the watchdog's timeout, does not end the lease.
func TestWatchdogOfASlowNode(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		lease := acquireWatched(t, c)
		c.Change(func(n *node) { n.AnswerDelay = slowPexpire(2 * time.Second) })
		time.Sleep(5 * ttl)
		if isLost(lease) {
			t.Error("the loss signal came, although all answers came within the watchdog's timeout")
		}
	})
}

// If acquire took most of the TTL, the first renewal is due immediately.
func TestWatchdogAfterASlowAcquire(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		c.Change(func(n *node) { n.AnswerDelay = slowSet(25 * time.Second) })
		lease := acquireWatched(t, c)
		<-renewals(t, lease)
		if at := time.Since(c.Began); at != 25*time.Second {
			t.Errorf("the first renewal came after %v, want immediately after the acquire, after 25s", at)
		}
	})
}

// While its process is stopped, the watchdog cannot renew. When the process continues, the
// watchdog notices, without asking the node, that the lease has ended.
func TestWatchdogOfAStoppedProcess(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		clock := newFake()
		defer clock.Close()
		lease := acquireWatched(t, c, withClock("", clock))
		time.Sleep(15 * time.Second)
		clock.Stop()
		c.Commands()
		time.Sleep(time.Minute)
		if isLost(lease) {
			t.Error("the loss signal came while the process was stopped")
		}
		clock.Resume()
		if at := waitForLoss(t, c, lease); at != 75*time.Second {
			t.Errorf("the loss signal came after %v, want on resume, after 75s", at)
		}
		if sent := c.Commands(); len(sent) > 0 {
			t.Errorf("the watchdog of a lease that had ended sent %q, want nothing", sent)
		}
	})
}

// A suspended machine's monotonic clock has not counted the time. So with that clock the
// watchdog learns only from the node that the lease has ended; with the wall clock it
// notices that itself.
func TestWatchdogOfASuspendedMachine(t *testing.T) {
	for clockKind, want := range map[fakeclock.Kind]time.Duration{
		fakeclock.Monotonic: 80 * time.Second, // at the renewal that was due at 20s
		fakeclock.Wall:      80 * time.Second, // when the timer fires, which is on the monotonic clock
	} {
		inBubble(t, 1, func(t *testing.T, c *cluster) {
			clock := newFake()
			defer clock.Close()
			lease := acquireWatched(t, c, withClock(clockKind, clock))
			time.Sleep(15 * time.Second)
			clock.Suspend()
			time.Sleep(time.Minute)
			c.Commands()
			clock.Resume()
			if at := waitForLoss(t, c, lease); at != want {
				t.Errorf("with the %s clock the loss signal came after %v, want %v", clockKind, at, want)
			}
			if asked := len(c.Commands()) > 0; asked != (clockKind == fakeclock.Monotonic) {
				t.Errorf("with the %s clock the watchdog asked the node: %v, want %v", clockKind, asked, !asked)
			}
		})
	}
}

// When a world ends, no goroutine of a watchdog may remain.
func TestWatchdogEndsWithItsWorld(t *testing.T) {
	closeClients := func(e *locks.Env, _ *fakeclock.Fake) {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	closeClock := func(_ *locks.Env, clock *fakeclock.Fake) { clock.Close() }
	tests := []struct {
		name string
		end  func(*locks.Env, *fakeclock.Fake)
		busy bool          // whether the world ends 1s into a renewal that takes 2s
		want time.Duration // how long after that the watchdog ends
	}{
		{"the clients are closed", closeClients, false, 0},
		{"the clients are closed during a renewal", closeClients, true, 0},
		{"the clock is closed", closeClock, false, 0},
		// In a world the end of the clock also ends requests. Here nothing ends them, so
		// the renewal takes its full time.
		{"the clock is closed during a renewal", closeClock, true, time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, 1, func(t *testing.T, c *cluster) {
				clock := newFake()
				defer clock.Close()
				var env *locks.Env
				lease := acquireWatched(t, c, withClock("", clock), func(e *locks.Env) { env = e })
				if test.busy {
					c.Change(func(n *node) { n.AnswerDelay = slowPexpire(2 * time.Second) })
				}
				time.Sleep(ttl/3 + time.Second)
				began := time.Now()
				test.end(env, clock)
				for range renewals(t, lease) {
				}
				if took := time.Since(began); took != test.want || isLost(lease) {
					t.Errorf("the watchdog ended after %v, want %v, with a loss signal: %v, want none", took, test.want, isLost(lease))
				}
			})
		})
	}
}
