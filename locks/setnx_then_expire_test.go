package locks_test

import (
	"context"
	"slices"
	"testing"
	"time"
)

func TestSetnxThenExpire(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		acquire(t, c.client(t, "setnx-then-expire"))
		if got, want := c.commands(), []string{"0s node 1 SETNX", "0s node 1 PEXPIRE"}; !slices.Equal(got, want) {
			t.Errorf("commands %q, want %q", got, want)
		}
		if got := c.nodes[0].TTL(key); got != ttl {
			t.Errorf("the key lasts %v, want %v", got, ttl)
		}
	})
}

// A client that is gone when SETNX is answered leaves a key that never ends.
func TestSetnxWithoutExpire(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		c.nodes[0].replies = slowSet(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		if _, err := c.client(t, "setnx-then-expire").Acquire(ctx); err == nil {
			t.Fatal("acquired without an answer")
		}
		time.Sleep(24 * time.Hour)
		fail(t, c.client(t, "setnx-then-expire"))
		if got := c.nodes[0].TTL(key); got != 0 {
			t.Errorf("the key ends in %v, want never", got)
		}
	})
}

// As long as the client and its network live it leaves no such key.
func TestSetnxCleansUp(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		c.nodes[0].cut = func(command string) bool { return command == "PEXPIRE" }
		fail(t, c.client(t, "setnx-then-expire"))
		equal(t, "held after PEXPIRE failed", c.held(), nil)
	})
}

func TestSetnxWhoseKeyIsGone(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		c.nodes[0].replies = slowSet(time.Second)
		time.AfterFunc(time.Second/2, func() { c.nodes[0].Del(key) })
		contains(t, fail(t, c.client(t, "setnx-then-expire")), "the key was gone before it got its expiry")
	})
}
