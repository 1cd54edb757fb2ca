package locks_test

import (
	"context"
	"slices"
	"testing"
	"time"
)

func TestSetnxThenExpire(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		acquire(t, c.Client(t, "setnx-then-expire"))
		if got, want := c.Commands(), []string{"0s node 1 SETNX", "0s node 1 PEXPIRE"}; !slices.Equal(got, want) {
			t.Errorf("commands %q, want %q", got, want)
		}
		if got := c.Nodes[0].TTL(key); got != ttl {
			t.Errorf("the key lasts %v, want %v", got, ttl)
		}
	})
}

// If a client has died by the time SETNX is answered, its key never expires.
func TestSetnxWithoutExpire(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		c.Nodes[0].AnswerDelay = slowSet(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		if _, err := c.Client(t, "setnx-then-expire").Acquire(ctx); err == nil {
			t.Fatal("acquired without an answer")
		}
		time.Sleep(24 * time.Hour)
		fail(t, c.Client(t, "setnx-then-expire"))
		if got := c.Nodes[0].TTL(key); got != 0 {
			t.Errorf("the key ends in %v, want never", got)
		}
	})
}

// While the client and its network work, a failed attempt leaves no key that never expires.
func TestSetnxCleansUp(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		c.Nodes[0].CutsAfter = func(command string) bool { return command == "PEXPIRE" }
		fail(t, c.Client(t, "setnx-then-expire"))
		equal(t, "held after PEXPIRE failed", c.HeldNodes(), nil)
	})
}

func TestSetnxWhoseKeyIsGone(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		c.Nodes[0].AnswerDelay = slowSet(time.Second)
		time.AfterFunc(time.Second/2, func() { c.Nodes[0].Del(key) })
		contains(t, fail(t, c.Client(t, "setnx-then-expire")), "the key was gone before it got its expiry")
	})
}
