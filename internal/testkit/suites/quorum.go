package suites

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/locksim/locksim/locks"
)

// quorumRequirements are tests that a lock on a quorum of five nodes has to pass, and how
// often each of them is run.
var quorumRequirements = []struct {
	name  string
	times int
	test  func(t *testing.T, c *Cluster, client func(...Setting) locks.Lock)
}{
	{"a minority is down", 1, func(t *testing.T, c *Cluster, client func(...Setting) locks.Lock) {
		c.Nodes[1].Down, c.Nodes[4].Down = true, true
		lease := Acquire(t, client())
		EqualNodes(t, "held", c.HeldNodes(), []int{1, 3, 4})
		MustNotAcquire(t, client())
		if err := Extend(t, lease); err != nil {
			t.Errorf("extend with a minority down: %v", err)
		}
		Release(t, lease)
		EqualNodes(t, "held after release", c.HeldNodes(), nil)
	}},
	{"a majority is down", 1, func(t *testing.T, c *Cluster, client func(...Setting) locks.Lock) {
		for _, i := range []int{4, 0, 2} {
			c.Nodes[i].Down = true
		}
		Contains(t, MustNotAcquire(t, client()), "(node 1: connection refused, node 3: connection refused, node 5: connection refused)")
		EqualNodes(t, "held after a failed attempt", c.HeldNodes(), nil)
	}},
	{"a split vote", 1, func(t *testing.T, c *Cluster, client func(...Setting) locks.Lock) {
		c.TakeKey(t, 2, 3)
		c.Nodes[3].Down = true
		Contains(t, MustNotAcquire(t, client()), "(node 2: taken, node 3: taken, node 4: connection refused)")
		EqualNodes(t, "held after a failed attempt", c.HeldNodes(), nil)
		for _, i := range []int{1, 2} {
			if value, err := c.Nodes[i].Get(Key); value != "somebody else" {
				t.Errorf("node %d: another's key is now %q, %v", i+1, value, err)
			}
		}
	}},
	// Errors list the nodes whose key is taken or gone in the order of their numbers,
	// whatever the order of the answers. The test is run several times, because that order
	// depends on chance.
	{"texts do not depend on the order of answers", 20, func(t *testing.T, c *Cluster, client func(...Setting) locks.Lock) {
		lease := Acquire(t, client())
		Contains(t, MustNotAcquire(t, client()), "(node 1: taken, node 2: taken, node 3: taken, node 4: taken, node 5: taken)")
		for i := range 3 {
			c.Nodes[i].Del(Key)
		}
		c.TakeKey(t, 1, 2, 3)
		err := lease.Release(t.Context())
		if !errors.Is(err, locks.ErrLost) {
			t.Fatalf("release returned %v, want ErrLost", err)
		}
		Contains(t, err.Error(), "(node 1: gone, node 2: gone, node 3: gone)")
	}},
	{"unknown is not lost", 1, func(t *testing.T, c *Cluster, client func(...Setting) locks.Lock) {
		l := client()
		// A handle has no connection to a node that was down when it acquired the lock, so
		// it must dial again.
		c.Nodes[3].Down, c.Nodes[4].Down = true, true
		lease := Acquire(t, l)
		c.Nodes[0].Del(Key)
		for what, err := range map[string]error{"extend": Extend(t, lease), "release": lease.Release(t.Context())} {
			if err == nil || errors.Is(err, locks.ErrLost) {
				t.Errorf("%s with two nodes that have the Key, one that has not and two unknown: %v", what, err)
			} else {
				Contains(t, err.Error(), "node 4: connection refused, node 5: connection refused")
			}
		}
	}},
	// A world's clients may try for a long time to reach nodes that never answer. A timer
	// of go-redis that is left over and fires in the next bubble of testing/synctest is a
	// fatal error.
	{"many attempts against silence", 2, func(t *testing.T, c *Cluster, client func(...Setting) locks.Lock) {
		for _, n := range c.Nodes[2:] {
			n.Mute = true
		}
		l := client(WithTTL(time.Second))
		for began := time.Now(); time.Since(began) < time.Minute; {
			MustNotAcquire(t, l)
			time.Sleep(20 * time.Millisecond)
		}
		c.Change(func(n *Node) { n.Mute = false })
		time.Sleep(10 * time.Second)
		Release(t, Acquire(t, l))
	}},
}

// CheckQuorum tests locks that use a quorum of five nodes.
func CheckQuorum(t *testing.T, subjects []Subject) {
	for _, requirement := range quorumRequirements {
		for range requirement.times {
			for _, s := range subjects {
				t.Run(requirement.name+"/"+s.Name, func(t *testing.T) {
					InBubble(t, 5, func(t *testing.T, c *Cluster) {
						requirement.test(t, c, func(more ...Setting) locks.Lock {
							return c.Client(t, s.Kind, slices.Concat(s.Settings, more)...)
						})
					})
				})
			}
		}
	}
}
