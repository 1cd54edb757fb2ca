package libraries_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/locks"
)

// tries returns the times at which one attempt asks a node for the lock, while another client holds
// the lock.
func tries(t *testing.T, kind string) (at []time.Duration) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		c.TakeKey(t, 1)
		l := c.Client(t, kind, func(e *locks.Env) { e.Rand = constant{} })
		mustNotAcquire(t, l)
		for _, when := range timesOf(c, "SET") {
			d, err := time.ParseDuration(when)
			if err != nil {
				t.Fatal(err)
			}
			at = append(at, d)
		}
	})
	return at
}

// constant is a source of random bytes that are all equal.
type constant struct{}

func (constant) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 0x40
	}
	return len(b), nil
}

// redsync makes 32 tries. Between two of them it pauses for 50 ms to 250 ms, drawn from the
// process's own source. The source of this test always returns 0x40, a quarter of the
// largest value, so each pause is slightly more than 100 ms.
func TestRedsyncTries(t *testing.T) {
	if got := tries(t, "redsync"); !slices.Equal(got, []time.Duration{0}) {
		t.Errorf("redsync tried at %v, want once", got)
	}
	for _, kind := range []string{"redsync-retrying", "redsync-defaults"} {
		got := tries(t, kind)
		if len(got) != 32 {
			t.Errorf("%s tried %d times, want 32", kind, len(got))
		}
		for i := range got[1:] {
			pause := got[i+1] - got[i]
			if pause < 100*time.Millisecond || pause >= 101*time.Millisecond || pause != got[1]-got[0] {
				t.Errorf("%s: pause %d is %v, want 100ms and the same each time", kind, i+1, pause)
			}
		}
	}
}

func TestRedsyncWaitsForTheRelease(t *testing.T) {
	for _, kind := range []string{"redsync-retrying", "redsync-defaults"} {
		inBubble(t, 5, func(t *testing.T, c *cluster) {
			lease := acquire(t, c.Client(t, kind))
			time.AfterFunc(time.Second, func() { release(t, lease) })
			began := time.Now()
			next := acquire(t, c.Client(t, kind))
			took := time.Since(began)
			if took < time.Second || took >= time.Second+250*time.Millisecond {
				t.Errorf("%s: got the lock %v after it was first asked for, want within a pause of its release after 1s", kind, took)
			}
			// The lease lasts a TTL from the beginning of the try that has succeeded.
			if got := timeLeft(t, next, fakeclock.System()); got != ttl-ttl/100 {
				t.Errorf("%s: valid for %v, want the TTL less a hundredth", kind, got)
			}
		})
	}
}

// One node of five answers no request. In an attempt, the client waits for it for a
// twentieth of the TTL. With go-redis's defaults, it waits for five seconds, so a lock with
// a shorter TTL is never acquired.
func TestRedsyncWithASilentNode(t *testing.T) {
	tests := []struct {
		kind    string
		ttl     time.Duration
		granted bool
		left    time.Duration
	}{
		{"redsync-retrying", 4 * time.Second, true, 4*time.Second - 40*time.Millisecond - 200*time.Millisecond},
		{"redsync-defaults", 8 * time.Second, true, 8*time.Second - 80*time.Millisecond - 5*time.Second},
		{"redsync-defaults", 4 * time.Second, false, 0},
	}
	for _, test := range tests {
		inBubble(t, 5, func(t *testing.T, c *cluster) {
			l := c.Client(t, test.kind, lasting(test.ttl))
			release(t, acquire(t, l)) // now the client is connected to all nodes
			c.Nodes[4].AnswerDelay = func(string) time.Duration { return time.Hour }
			if !test.granted {
				mustNotAcquire(t, l)
				return
			}
			if got := timeLeft(t, acquire(t, l), fakeclock.System()); got != test.left {
				t.Errorf("%s, TTL %v: valid for %v, want %v", test.kind, test.ttl, got, test.left)
			}
		})
	}
}

func TestRedsyncRefusesALateExtension(t *testing.T) {
	inBubble(t, 5, func(t *testing.T, c *cluster) {
		for _, n := range c.Nodes {
			n.AnswerDelay = func(command string) time.Duration {
				if command == "PEXPIRE" {
					return 3 * time.Second
				}
				return 0
			}
		}
		lease := acquire(t, c.Client(t, "redsync", lasting(2*time.Second)))
		if err := extend(t, lease); !errors.Is(err, locks.ErrLost) {
			t.Errorf("an extension by 2s that took 3s: %v, want ErrLost", err)
		}
	})
}
