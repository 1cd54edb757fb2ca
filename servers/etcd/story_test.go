package etcd_test

import (
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// gcPause is a world of two clients. client-1 is paused just before it writes, until client-2
// has finished.
func gcPause(members int, fencing storage.Policy) sim.Config {
	return sim.Config{
		Name: "gc-pause", Seed: 1, Horizon: 5 * time.Minute,
		Network: sim.Network{Min: 200 * time.Microsecond, Max: time.Millisecond},
		Lock:    sim.Lock{Kind: mutex, Key: "/lock", TTL: 10 * time.Second},
		Nodes:   Nodes("etcd", members),
		Clients: []sim.Client{
			{Name: "client-1", RetryEvery: time.Second},
			{Name: "client-2", RetryEvery: time.Second, Starts: Point("client-1 acquired")},
		},
		Storage: sim.Storage{Fencing: fencing},
		Faults: []sim.Fault{
			Until("client-2 finished", Before("client-1 write", PauseOf("client-1"))),
		},
	}
}

// A client that is paused writes after its session has expired. Fencing tokens prevent the
// damage, but not that two clients are in their sections at the same time.
func TestGCPause(t *testing.T) {
	for _, members := range []int{1, 3} {
		tr := RunWorld(t, gcPause(members, storage.None))
		AllFaultsStruck(t, tr)
		Equal(t, "number of doubts", len(tr.Doubts), 0)
		Equal(t, "violated properties without fencing", Violations(tr), "section-exclusion inherent: needs fencing, grant-order, write-order, no-lost-update, serial-sections")
		// The lock expires only once, with the session of client-1. The release of client-2
		// deletes the key of client-2.
		Equal(t, "events of the lock's key", KeyHistory(tr, "etcd"), "set 1, expire 1, set 1, delete 1")
		Equal(t, "the client whose session expired", OnlyEvent(t, tr, trace.KindExpireSession, "etcd").Peer, "client-1")
		fenced := RunWorld(t, gcPause(members, storage.Writes))
		Equal(t, "violated properties with fencing", Violations(fenced), "section-exclusion inherent: needs fencing")
	}
}
