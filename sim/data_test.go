package sim_test

import (
	"strings"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// If the cluster of the lock cannot keep the data, the world is refused before the run.
func TestCheckStorageInACluster(t *testing.T) {
	sundial := locks.Kind{Name: "noon", System: "sundial", HasDataClient: true}
	via := []trace.Task{{Step: trace.Write, Object: "x", Via: []string{"proxy"}}}
	for _, c := range []struct {
		what string
		cfg  sim.Config
		why  string
	}{
		{"as its clients read by themselves", sim.Config{}, ""},
		{"as they can be told to", sim.Config{Storage: sim.Storage{Reads: "silently", Fencing: storage.Optimistic}}, ""},
		{"another system's way to read", sim.Config{Storage: sim.Storage{Reads: "backwards"}},
			"data in sundial cannot be read backwards: reads are aloud or silently"},
		{"tokens", sim.Config{Storage: sim.Storage{Fencing: storage.Writes}},
			"a storage in a cluster cannot check the policy writes: with its own transactions it can check optimistic and owner"},
		{"a lock that cannot ask whose it is", sim.Config{Storage: sim.Storage{Fencing: storage.Owner}},
			"a storage in a cluster with the policy owner needs a lock whose client checks that its key still exists, and noon does not check that"},
		{"a lock that can", sim.Config{Lock: sim.Lock{Kind: locks.Kind{Name: "noon", System: "sundial", HasDataClient: true, ChecksOwner: true}}, Storage: sim.Storage{Fencing: storage.Owner}}, ""},
		{"a copy", sim.Config{Storage: sim.Storage{CopyLag: time.Second}}, "a storage in a cluster has no copy that lags behind: it has members"},
		{"a service on the way", sim.Config{Clients: []sim.Client{{Does: via}}},
			"a storage in a cluster is read and written by the lock's own client, without services and marks"},
		{"servers that keep locks alone", sim.Config{Lock: sim.Lock{Kind: locks.Kind{Name: "toy", System: "toy", HasDataClient: true}}},
			"the storage is in the cluster that keeps the lock, but the servers of the lock keep no data"},
		{"a lock that does not know how", sim.Config{Lock: sim.Lock{Kind: locks.Kind{Name: "bare", System: "sundial"}}},
			"the storage is in the cluster that keeps the lock, but the servers of the lock keep no data"},
	} {
		if c.cfg.Lock.Kind.Name == "" {
			c.cfg.Lock.Kind = sundial
		}
		c.cfg.Storage.InCluster = true
		why := ""
		if err := c.cfg.CheckStorage(); err != nil {
			why = err.Error()
		}
		if why != c.why {
			t.Errorf("%s: the error is %q, want %q", c.what, why, c.why)
		}
	}
}

// The policy owner needs a storage in the cluster: only the servers that keep the lock's
// key can check who owns it.
func TestTheOwnerIsAskedInACluster(t *testing.T) {
	cfg := sim.Config{Lock: sim.Lock{Kind: ToyLock}, Storage: sim.Storage{Fencing: storage.Owner}}
	if err := cfg.CheckStorage(); err == nil || !strings.Contains(err.Error(), "write in: cluster") {
		t.Errorf("the error is %v", err)
	}
}

// If the data is in the cluster, there is no storage process that a fault could strike.
func TestNoFaultsOfAStorageInACluster(t *testing.T) {
	cfg := sim.Config{Storage: sim.Storage{InCluster: true}, Clients: []sim.Client{{Name: "client-1"}}}
	err := (sim.Fault{Action: &sim.Pause{Process: trace.StorageName}}).Check(cfg.Topology())
	if err == nil || !strings.Contains(err.Error(), `there is no process "storage"; there are client-1`) {
		t.Errorf("the error is %v", err)
	}
}
