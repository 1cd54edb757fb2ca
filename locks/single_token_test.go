package locks_test

import (
	"slices"
	"testing"
	"time"

	"github.com/locksim/locksim/locks"
)

// token returns the fencing token of a lease.
func token(t *testing.T, l locks.Lease) uint64 {
	t.Helper()
	holder, ok := l.(locks.Tokener)
	if !ok {
		t.Fatal("the lease has no token")
	}
	return holder.Token()
}

func TestTokensOfTheLockGrow(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		lease := acquire(t, c.Client(t, "single-token"))
		for range 3 {
			mustNotAcquire(t, c.Client(t, "single-token")) // a refused attempt does not increment the counter
		}
		late := lease
		time.Sleep(ttl)
		lease = acquire(t, c.Client(t, "single-token"))
		if first, second := token(t, late), token(t, lease); first != 1 || second != 2 {
			t.Errorf("two grants have the tokens %d and %d, want 1 and 2", first, second)
		}
		if err := extend(t, lease); err != nil {
			t.Error(err)
		}
		if got := token(t, lease); got != 2 {
			t.Errorf("after an extension the token is %d, want still 2", got)
		}
	})
}

// No other client can act between the grant and its token, because one script makes both.
func TestTokenIsMintedWithTheLock(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		l := c.Client(t, "single-token")
		release(t, acquire(t, l))
		c.Commands()
		acquire(t, l)
		if got, want := c.Commands(), []string{"0s node 1 EVALSHA", "0s node 1 SET", "0s node 1 INCR"}; !slices.Equal(got, want) {
			t.Errorf("the commands are %q, want %q", got, want)
		}
		if count, err := c.Nodes[0].Get(key + ":token"); count != "2" || c.Nodes[0].TTL(key+":token") != 0 {
			t.Errorf("the counter is %q (%v) with the TTL %v, want 2 without a TTL", count, err, c.Nodes[0].TTL(key+":token"))
		}
	})
}

// After a restart that loses the node's data, the tokens begin again at 1.
func TestTokensBeginAgainAfterDataLoss(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		l := c.Client(t, "single-token")
		release(t, acquire(t, l))
		stale := acquire(t, l)
		c.Nodes[0].FlushAll()
		if first, second := token(t, stale), token(t, acquire(t, l)); first != 2 || second != 1 {
			t.Errorf("the tokens before and after the node lost its data are %d and %d, want 2 and 1", first, second)
		}
	})
}
