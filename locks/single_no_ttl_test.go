package locks_test

import (
	"errors"
	"testing"
	"time"

	"github.com/locksim/locksim/locks"
)

// Without a TTL, clients wait forever for a holder that has died.
func TestNoTTLNeverEnds(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		lease := acquire(t, c.Client(t, "single-no-ttl"))
		if _, ok := lease.(locks.Expirer); ok {
			t.Error("a lease without an end says when it ends")
		}
		time.Sleep(10 * 365 * 24 * time.Hour)
		fail(t, c.Client(t, "single-no-ttl"))
		release(t, lease)
		release(t, acquire(t, c.Client(t, "single-no-ttl")))
	})
}

// If it is unknown whether the key was set, it may exist forever.
func TestNoTTLAfterALostAnswer(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		c.Nodes[0].CutsAfter = takes
		fail(t, c.Client(t, "single-no-ttl"))
		c.Nodes[0].CutsAfter = func(string) bool { return false }
		time.Sleep(time.Hour)
		contains(t, fail(t, c.Client(t, "single-no-ttl")), "somebody else holds it")
	})
}

func TestNoTTLReleaseOfALostLock(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		lease := acquire(t, c.Client(t, "single-no-ttl"))
		c.Nodes[0].Del(key)
		if err := lease.Release(t.Context()); !errors.Is(err, locks.ErrLost) {
			t.Errorf("release of a key that is gone: %v, want ErrLost", err)
		}
	})
}
