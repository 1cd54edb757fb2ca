package locks_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/locks"
)

// quorums are the locks that need a quorum of five nodes.
var quorums = []struct {
	name, kind string
	settings   []setting
}{
	{"redlock", "redlock", nil},
	{"redlock all at once", "redlock", []setting{asking(locks.AllAtOnce)}},
	{"redsync", "redsync", nil},
	{"redsync-retrying", "redsync-retrying", nil},
	// 32 tries against nodes that refuse connections take more than half a minute.
	{"redsync-defaults", "redsync-defaults", []setting{lasting(2 * time.Minute)}},
}

func onQuorums(t *testing.T, test func(t *testing.T, c *cluster, client func(...setting) locks.Lock)) {
	for _, q := range quorums {
		t.Run(q.name, func(t *testing.T) {
			inBubble(t, 5, func(t *testing.T, c *cluster) {
				test(t, c, func(more ...setting) locks.Lock {
					return c.client(t, q.kind, slices.Concat(q.settings, more)...)
				})
			})
		})
	}
}

func TestMinorityDown(t *testing.T) {
	onQuorums(t, func(t *testing.T, c *cluster, client func(...setting) locks.Lock) {
		c.nodes[1].down, c.nodes[4].down = true, true
		lease := acquire(t, client())
		equal(t, "held", c.held(), []int{1, 3, 4})
		fail(t, client())
		if err := extend(t, lease); err != nil {
			t.Errorf("extend with a minority down: %v", err)
		}
		release(t, lease)
		equal(t, "held after release", c.held(), nil)
	})
}

func TestMajorityDown(t *testing.T) {
	onQuorums(t, func(t *testing.T, c *cluster, client func(...setting) locks.Lock) {
		for _, i := range []int{4, 0, 2} {
			c.nodes[i].down = true
		}
		contains(t, fail(t, client()), "(node 1: connection refused, node 3: connection refused, node 5: connection refused)")
		equal(t, "held after a failed attempt", c.held(), nil)
	})
}

func TestSplitVote(t *testing.T) {
	onQuorums(t, func(t *testing.T, c *cluster, client func(...setting) locks.Lock) {
		c.take(t, 2, 3)
		c.nodes[3].down = true
		contains(t, fail(t, client()), "(node 2: taken, node 3: taken, node 4: connection refused)")
		equal(t, "held after a failed attempt", c.held(), nil)
		for _, i := range []int{1, 2} {
			if value, err := c.nodes[i].Get(key); value != "somebody else" {
				t.Errorf("node %d: another's key is now %q, %v", i+1, value, err)
			}
		}
	})
}

// Majorities that are taken, and those that are gone, in one text whatever order
// the answers came in.
func TestTextsDoNotDependOnOrder(t *testing.T) {
	for range 20 {
		onQuorums(t, func(t *testing.T, c *cluster, client func(...setting) locks.Lock) {
			lease := acquire(t, client())
			contains(t, fail(t, client()), "(node 1: taken, node 2: taken, node 3: taken, node 4: taken, node 5: taken)")
			for i := range 3 {
				c.nodes[i].Del(key)
			}
			c.take(t, 1, 2, 3)
			err := lease.Release(t.Context())
			if !errors.Is(err, locks.ErrLost) {
				t.Fatalf("release returned %v, want ErrLost", err)
			}
			contains(t, err.Error(), "(node 1: gone, node 2: gone, node 3: gone)")
		})
	}
}

func TestUnknownIsNotLost(t *testing.T) {
	onQuorums(t, func(t *testing.T, c *cluster, client func(...setting) locks.Lock) {
		l := client()
		// Nodes that never answered the grant have no connection to reuse.
		c.nodes[3].down, c.nodes[4].down = true, true
		lease := acquire(t, l)
		c.nodes[0].Del(key)
		for what, err := range map[string]error{"extend": extend(t, lease), "release": lease.Release(t.Context())} {
			if err == nil || errors.Is(err, locks.ErrLost) {
				t.Errorf("%s with two nodes that have the key, one that has not and two unknown: %v", what, err)
			} else {
				contains(t, err.Error(), "node 4: connection refused, node 5: connection refused")
			}
		}
	})
}

// A request for the lock reached a node, but its answer did not come in time.
func slowSet(took time.Duration) func(string) time.Duration {
	return func(command string) time.Duration {
		if takes(command) {
			return took
		}
		return 0
	}
}

func TestFailedAttemptReleasesWhatTimedOut(t *testing.T) {
	tests := []struct {
		without []string
		held    []int
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
						c.nodes[i].replies = slowSet(time.Second)
					}
					text := fail(t, c.client(t, "redlock", asking(ask), without(test.without...)))
					if want := "lock not acquired: 2 of 5 nodes granted it, 3 must (node 3: timed out, node 4: timed out, node 5: timed out)"; text != want {
						t.Errorf("error %q, want %q", text, want)
					}
					equal(t, "held after a failed attempt", c.held(), test.held)
				})
			})
		}
	}
}

func TestReleaseAsksAllNodes(t *testing.T) {
	tests := []struct {
		without []string
		held    []int
	}{
		{nil, nil},
		{[]string{"release-on-all-nodes"}, []int{2, 4}},
	}
	for _, test := range tests {
		t.Run(fmt.Sprint("without ", test.without), func(t *testing.T) {
			inBubble(t, 5, func(t *testing.T, c *cluster) {
				c.nodes[1].replies, c.nodes[3].replies = slowSet(time.Second), slowSet(time.Second)
				lease := acquire(t, c.client(t, "redlock", without(test.without...)))
				equal(t, "held", c.held(), all)
				release(t, lease)
				equal(t, "held after release", c.held(), test.held)
			})
		})
	}
}

func TestOrderOfRequests(t *testing.T) {
	tests := []struct {
		ask     locks.Ask
		want    []string
		elapsed time.Duration
	}{
		{"", []string{"0s node 1 SET", "10ms node 2 SET", "20ms node 3 SET", "30ms node 4 SET", "40ms node 5 SET"}, 50 * time.Millisecond},
		{locks.OneByOne, []string{"0s node 1 SET", "10ms node 2 SET", "20ms node 3 SET", "30ms node 4 SET", "40ms node 5 SET"}, 50 * time.Millisecond},
		{locks.AllAtOnce, []string{"0s node 1 SET", "0s node 2 SET", "0s node 3 SET", "0s node 4 SET", "0s node 5 SET"}, 10 * time.Millisecond},
	}
	for _, test := range tests {
		t.Run("ask "+string(test.ask), func(t *testing.T) {
			inBubble(t, 5, func(t *testing.T, c *cluster) {
				for _, n := range c.nodes {
					n.replies = slowSet(10 * time.Millisecond)
				}
				lease := acquire(t, c.client(t, "redlock", asking(test.ask)))
				got := c.commands()
				slices.Sort(got) // those of one moment come in any order
				if !slices.Equal(got, test.want) {
					t.Errorf("commands %q, want %q", got, test.want)
				}
				want := ttl - test.elapsed - ttl/100 - 2*time.Millisecond
				if left := left(t, lease, fakeclock.System()); left != want {
					t.Errorf("valid for %v, want the TTL less %v and the drift allowance: %v", left, test.elapsed, want)
				}
			})
		})
	}
}

// A world's clients may try for a long time to reach nodes that never answer. No
// timer of go-redis may survive into the next bubble, where it would be a fatal
// error.
func TestManyAttemptsAgainstSilence(t *testing.T) {
	for range 2 {
		onQuorums(t, func(t *testing.T, c *cluster, client func(...setting) locks.Lock) {
			for _, n := range c.nodes[2:] {
				n.mute = true
			}
			l := client(lasting(time.Second))
			for began := time.Now(); time.Since(began) < time.Minute; {
				fail(t, l)
				time.Sleep(20 * time.Millisecond)
			}
			c.change(func(n *node) { n.mute = false })
			time.Sleep(10 * time.Second)
			release(t, acquire(t, l))
		})
	}
}
