package locks_test

import (
	"errors"
	"testing"
	"time"

	"github.com/locksim/locksim/locks"
)

// Without a TTL, a lease never ends, so clients wait forever for a holder that has crashed.
func TestNoTTLNeverEnds(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		lease := acquire(t, c.Client(t, "single-no-ttl"))
		if _, ok := lease.(locks.Expirer); ok {
			t.Error("a lease without an end implements Expirer")
		}
		time.Sleep(10 * 365 * 24 * time.Hour)
		mustNotAcquire(t, c.Client(t, "single-no-ttl"))
		release(t, lease)
		release(t, acquire(t, c.Client(t, "single-no-ttl")))
	})
}

// If it is unknown whether the key was set, it may exist forever.
func TestNoTTLAfterALostAnswer(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		c.Nodes[0].CutsAfter = takesKey
		mustNotAcquire(t, c.Client(t, "single-no-ttl"))
		c.Nodes[0].CutsAfter = func(string) bool { return false }
		time.Sleep(time.Hour)
		mustContain(t, mustNotAcquire(t, c.Client(t, "single-no-ttl")), "another client holds it")
	})
}

func TestNoTTLReleaseOfALostLock(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		lease := acquire(t, c.Client(t, "single-no-ttl"))
		c.Nodes[0].Del(key)
		if err := lease.Release(t.Context()); !errors.Is(err, locks.ErrLost) {
			t.Errorf("Release returned %v when the key had been deleted, want ErrLost", err)
		}
	})
}
