package reality

import (
	"fmt"
	"strings"
	"testing"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/trace"
)

// A stubbornWatcher is a [clusterWatcher] for tests that only knows which sessions exist.
type stubbornWatcher struct {
	clusterWatcher
	sessions map[string]bool
}

func (w stubbornWatcher) hasSession(id string) (bool, error) { return w.sessions[id], nil }

// lockedCluster returns a cluster with a lock and the sessions 1 of client-1 and 2 of
// client-2, in a run that has begun.
func lockedCluster(system string) *cluster {
	r := testRun(system)
	r.trace = &trace.Trace{}
	r.oracle = history.NewOracle(r.trace)
	r.started = true
	r.cluster.watcher = stubbornWatcher{sessions: map[string]bool{"1": true, "2": true}}
	for _, id := range []string{"1", "2"} {
		r.cluster.sessions[id] = &session{id: id, client: "client-" + id}
	}
	r.cluster.knowLocks([]trace.LockInfo{{Slots: []trace.SlotInfo{{Key: "/lock"}}}})
	return r.cluster
}

// asks notes that a client has sent a request to the cluster.
func (c *cluster) asks(client string, e *effect) {
	e.by = &trace.Actor{Client: client, Section: 1}
	c.effects = append(c.effects, e)
}

// eventsSince lists the events that were recorded since the last call with seen, each with its
// kind, owner, client and peer.
func eventsSince(c *cluster, seen *int) string {
	var lines []string
	for _, ev := range c.r.trace.Events[*seen:] {
		line := string(ev.Kind)
		if ev.Owner != nil {
			line += " of " + ev.Owner.Client
		}
		if ev.By != nil {
			line += " by " + ev.By.Client
		}
		lines = append(lines, line+ev.Peer)
	}
	*seen = len(c.r.trace.Events)
	return strings.Join(lines, ", ")
}

// The oldest key in the folder of a lock is the holder's. If its session has ended, the lock
// has expired, and the next key is the holder's.
func TestHolderInACluster(t *testing.T) {
	for _, system := range []string{locks.Etcd, locks.ZooKeeper} {
		c, seen := lockedCluster(system), 0
		step := func(what, want string, ch change) {
			t.Helper()
			c.see(ch.revision, []change{ch})
			if got := eventsSince(c, &seen); got != want {
				t.Errorf("%s: %s: the events are %q, want %q", system, what, got, want)
			}
		}
		c.asks("client-1", &effect{puts: []string{"/lock/a"}})
		c.asks("client-2", &effect{puts: []string{"/lock/b"}})
		step("client-1 puts its key", "set of client-1 by client-1", change{revision: 2, key: "/lock/a", created: 2, session: "1"})
		step("client-2 waits", "", change{revision: 3, key: "/lock/b", created: 3, session: "2"})
		c.watcher.(stubbornWatcher).sessions["1"] = false
		step("client-1's session ends", "session-expireclient-1, expire of client-1, set of client-2 by client-2",
			change{revision: 4, key: "/lock/a", created: 2, session: "1", isDeleted: true})
		c.asks("client-2", &effect{deletes: [][2]string{{"/lock/b", "/lock/b\x00"}}})
		step("client-2 releases", "delete of client-2 by client-2", change{revision: 5, key: "/lock/b", created: 3, session: "2", isDeleted: true})
		if len(c.r.trace.Doubts) > 0 {
			t.Errorf("%s: the doubts are %q", system, c.r.trace.Doubts)
		}
	}
}

// A change that no request and no end of a session explains makes the run inconclusive. So does
// a change that two clients may have made.
func TestUnexplainedChanges(t *testing.T) {
	for want, cause := range map[string]func(c *cluster) change{
		"no client's request": func(c *cluster) change {
			return change{revision: 3, key: "/lock/a", created: 2, session: "1", isDeleted: true}
		},
		"both client-1 and client-2": func(c *cluster) change {
			for i := range 2 {
				c.asks(fmt.Sprintf("client-%d", i+1), &effect{deletes: [][2]string{{"/lock/a", "/lock/a\x00"}}})
			}
			return change{revision: 3, key: "/lock/a", created: 2, session: "1", isDeleted: true}
		},
	} {
		c := lockedCluster(locks.Etcd)
		c.asks("client-1", &effect{puts: []string{"/lock/a"}})
		c.see(2, []change{{revision: 2, key: "/lock/a", created: 2, session: "1"}})
		if ch := cause(c); len(c.r.trace.Doubts) > 0 {
			t.Errorf("the doubts are %q before the change", c.r.trace.Doubts)
		} else {
			c.see(3, []change{ch})
		}
		if got := strings.Join(c.r.trace.Doubts, "; "); !strings.Contains(got, want) {
			t.Errorf("the doubts are %q, want one with %q", got, want)
		}
	}
}

// If two clients have asked for the same key, the change belongs to the client to whose session
// the key is bound.
func TestOwnerOfASharedKey(t *testing.T) {
	c, seen := lockedCluster(locks.Etcd), 0
	c.asks("client-1", &effect{puts: []string{"/lock"}})
	c.asks("client-2", &effect{puts: []string{"/lock"}})
	c.see(2, []change{{revision: 2, key: "/lock", created: 2, session: "1"}})
	if got := eventsSince(c, &seen); got != "set of client-1 by client-1" || len(c.r.trace.Doubts) > 0 {
		t.Errorf("the events are %q, and the doubts %q", got, c.r.trace.Doubts)
	}
}
