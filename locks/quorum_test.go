package locks_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/internal/testkit/suites"
	"github.com/locksim/locksim/locks"
)

func TestQuorum(t *testing.T) {
	suites.CheckQuorum(t, []suites.Subject{
		{Name: "redlock", Kind: "redlock"},
		{Name: "redlock all at once", Kind: "redlock", Settings: []setting{withAskOrder(locks.AllAtOnce)}},
	})
}

// all are the numbers of the five nodes.
var all = []int{1, 2, 3, 4, 5}

// slowSet delays the answer to a SET: the node sets the key, but its answer comes too late.
func slowSet(took time.Duration) func(string) time.Duration {
	return func(command string) time.Duration {
		if takesKey(command) {
			return took
		}
		return 0
	}
}

func TestFailedAttemptReleasesNodesThatTimedOut(t *testing.T) {
	tests := []struct {
		without []string // features that are turned off
		held    []int    // the nodes that still have the key
	}{
		{nil, nil},
		{[]string{"release-on-all-nodes"}, []int{3, 4, 5}},
		{[]string{"release-after-failure"}, all},
	}
	for _, ask := range []locks.Ask{locks.OneByOne, locks.AllAtOnce} {
		for _, test := range tests {
			t.Run(fmt.Sprint(ask, " without ", test.without), func(t *testing.T) {
				inBubble(t, 5, func(t *testing.T, c *cluster) {
					for _, i := range []int{2, 3, 4} {
						c.Nodes[i].AnswerDelay = slowSet(time.Second)
					}
					text := mustNotAcquire(t, c.Client(t, "redlock", withAskOrder(ask), without(test.without...)))
					if want := "lock not acquired: 2 of 5 nodes granted it, at least 3 are needed (node 3: timed out, node 4: timed out, node 5: timed out)"; text != want {
						t.Errorf("the error is %q, want %q", text, want)
					}
					equalNodes(t, "nodes with the key after a failed attempt", c.HeldNodes(), test.held)
				})
			})
		}
	}
}

func TestReleaseAsksAllNodes(t *testing.T) {
	tests := []struct {
		without []string // features that are turned off
		held    []int    // the nodes that still have the key
	}{
		{nil, nil},
		{[]string{"release-on-all-nodes"}, []int{2, 4}},
	}
	for _, test := range tests {
		t.Run(fmt.Sprint("without ", test.without), func(t *testing.T) {
			inBubble(t, 5, func(t *testing.T, c *cluster) {
				c.Nodes[1].AnswerDelay, c.Nodes[3].AnswerDelay = slowSet(time.Second), slowSet(time.Second)
				lease := acquire(t, c.Client(t, "redlock", without(test.without...)))
				equalNodes(t, "nodes with the key before the release", c.HeldNodes(), all)
				release(t, lease)
				equalNodes(t, "nodes with the key after the release", c.HeldNodes(), test.held)
			})
		})
	}
}

func TestOrderOfRequests(t *testing.T) {
	tests := []struct {
		ask     locks.Ask
		want    []string
		elapsed time.Duration // how long the acquire takes
	}{
		{"", []string{"0s node 1 SET", "10ms node 2 SET", "20ms node 3 SET", "30ms node 4 SET", "40ms node 5 SET"}, 50 * time.Millisecond},
		{locks.OneByOne, []string{"0s node 1 SET", "10ms node 2 SET", "20ms node 3 SET", "30ms node 4 SET", "40ms node 5 SET"}, 50 * time.Millisecond},
		{locks.AllAtOnce, []string{"0s node 1 SET", "0s node 2 SET", "0s node 3 SET", "0s node 4 SET", "0s node 5 SET"}, 10 * time.Millisecond},
	}
	for _, test := range tests {
		t.Run("ask "+string(test.ask), func(t *testing.T) {
			inBubble(t, 5, func(t *testing.T, c *cluster) {
				for _, n := range c.Nodes {
					n.AnswerDelay = slowSet(10 * time.Millisecond)
				}
				lease := acquire(t, c.Client(t, "redlock", withAskOrder(test.ask)))
				got := c.Commands()
				slices.Sort(got) // commands at the same moment come in any order
				if !slices.Equal(got, test.want) {
					t.Errorf("the commands are %q, want %q", got, test.want)
				}
				want := ttl - test.elapsed - ttl/100 - 2*time.Millisecond
				if left := timeLeft(t, lease, fakeclock.System()); left != want {
					t.Errorf("the lease is valid for %v, want the TTL less %v and the drift allowance: %v", left, test.elapsed, want)
				}
			})
		})
	}
}
