package locks_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/locksim/locksim/locks"
)

// A holder whose lease has ended deletes the key of the next holder, so a third client
// acquires the lock while the second one holds it.
func TestPlainDelFreesAnothersLock(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		late := acquire(t, c.Client(t, "single-plain-del"))
		time.Sleep(ttl)
		acquire(t, c.Client(t, "single-plain-del"))
		mustNotAcquire(t, c.Client(t, "single-plain-del"))
		release(t, late)
		acquire(t, c.Client(t, "single-plain-del"))
		if got, want := c.Commands(), []string{"0s node 1 SET", "30s node 1 SET", "30s node 1 SET", "30s node 1 DEL", "30s node 1 SET"}; !slices.Equal(got, want) {
			t.Errorf("the commands are %q, want %q", got, want)
		}
	})
}

// While the answer to the GET is on its way, the key expires and another client sets it.
// With a script, which compares on the node, nothing can happen in between.
func TestGetThenDelRaces(t *testing.T) {
	tests := []struct {
		kind string
		held []int // the nodes on which the second client's key exists at the end
	}{
		{"single-get-then-del", nil},
		{"single", []int{1}},
	}
	for _, test := range tests {
		t.Run(test.kind, func(t *testing.T) {
			inBubble(t, 1, func(t *testing.T, c *cluster) {
				l := c.Client(t, test.kind)
				release(t, acquire(t, l)) // from now on the node has the script
				lease := acquire(t, l)
				c.Nodes[0].AnswerDelay = func(command string) time.Duration {
					if command == "GET" || command == "DEL" {
						return time.Second
					}
					return 0
				}
				time.Sleep(ttl - time.Second/2)
				released := make(chan error)
				go func() { released <- lease.Release(t.Context()) }()
				time.Sleep(time.Second * 3 / 4)
				acquire(t, c.Client(t, test.kind))
				if err := <-released; err != nil {
					t.Error(err)
				}
				equalNodes(t, "nodes with the second client's key", c.HeldNodes(), test.held)
			})
		})
	}
}

func TestGetThenDelReadsTheValueFirst(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		l := c.Client(t, "single-get-then-del")
		release(t, acquire(t, l))
		lease := acquire(t, l)
		c.Nodes[0].Del(key)
		c.TakeKey(t, 1)
		if err := lease.Release(t.Context()); !errors.Is(err, locks.ErrLost) {
			t.Errorf("Release returned %v when another client held the lock, want ErrLost", err)
		}
		want := []string{"0s node 1 SET", "0s node 1 GET", "0s node 1 DEL", "0s node 1 SET", "0s node 1 GET"}
		if got := c.Commands(); !slices.Equal(got, want) {
			t.Errorf("the commands are %q, want %q", got, want)
		}
	})
}

// The key expires between the GET and the DEL, and no other client sets it.
func TestGetThenDelFindsNothingToDelete(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		lease := acquire(t, c.Client(t, "single-get-then-del"))
		c.Nodes[0].AnswerDelay = func(command string) time.Duration {
			if command == "GET" {
				return time.Second
			}
			return 0
		}
		time.Sleep(ttl - time.Second/2)
		if err := lease.Release(t.Context()); !errors.Is(err, locks.ErrLost) {
			t.Errorf("Release returned %v when the key expired between GET and DEL, want ErrLost", err)
		}
	})
}
