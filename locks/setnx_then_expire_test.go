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
			t.Errorf("the commands are %q, want %q", got, want)
		}
		if got := c.Nodes[0].TTL(key); got != ttl {
			t.Errorf("the TTL of the key is %v, want %v", got, ttl)
		}
	})
}

// If a client gives up or crashes before it gets the answer to SETNX, its key never
// expires.
func TestSetnxWithoutExpire(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		c.Nodes[0].AnswerDelay = slowSet(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		if _, err := c.Client(t, "setnx-then-expire").Acquire(ctx); err == nil {
			t.Fatal("Acquire returned no error, although SETNX was not answered")
		}
		time.Sleep(24 * time.Hour)
		mustNotAcquire(t, c.Client(t, "setnx-then-expire"))
		if got := c.Nodes[0].TTL(key); got != 0 {
			t.Errorf("the TTL of the key is %v, want none", got)
		}
	})
}

// While the client and its network work, a failed attempt leaves no key that never expires.
func TestSetnxCleansUp(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		c.Nodes[0].CutsAfter = func(command string) bool { return command == "PEXPIRE" }
		mustNotAcquire(t, c.Client(t, "setnx-then-expire"))
		equalNodes(t, "nodes with the key after PEXPIRE failed", c.HeldNodes(), nil)
	})
}

// If the key is deleted between SETNX and PEXPIRE, the acquire fails.
func TestSetnxWhoseKeyIsGone(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		c.Nodes[0].AnswerDelay = slowSet(time.Second)
		time.AfterFunc(time.Second/2, func() { c.Nodes[0].Del(key) })
		mustContain(t, mustNotAcquire(t, c.Client(t, "setnx-then-expire")), "the key was gone before its expiry was set")
	})
}
