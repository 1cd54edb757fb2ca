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
	// via is a write that goes through a service.
	via := []trace.Task{{Step: trace.Write, Object: "x", Via: []string{"proxy"}}}
	for _, c := range []struct {
		what string
		cfg  sim.Config
		why  string // why the world is refused; "" if it is allowed
	}{
		{"the default way to read", sim.Config{}, ""},
		{"a way to read that the servers have", sim.Config{Storage: sim.Storage{Reads: "silently", Fencing: storage.Optimistic}}, ""},
		{"a way to read that the servers do not have", sim.Config{Storage: sim.Storage{Reads: "backwards"}},
			"data in sundial cannot be read backwards: reads are aloud or silently"},
		{"a policy that checks tokens", sim.Config{Storage: sim.Storage{Fencing: storage.Writes}},
			"a storage in a cluster cannot check the policy writes: with its own transactions it can check optimistic and owner"},
		{"the policy owner, and a lock that does not check its key", sim.Config{Storage: sim.Storage{Fencing: storage.Owner}},
			"a storage in a cluster with the policy owner needs a lock whose client checks that its key still exists, and this lock's client does not"},
		{"the policy owner, and a lock that checks its key", sim.Config{Lock: sim.Lock{Kind: locks.Kind{Name: "noon", System: "sundial", HasDataClient: true, ChecksOwner: true}}, Storage: sim.Storage{Fencing: storage.Owner}}, ""},
		{"a copy of the storage", sim.Config{Storage: sim.Storage{CopyLag: time.Second}}, "a storage in a cluster has no copy that lags behind: it has members"},
		{"a write through a service", sim.Config{Clients: []sim.Client{{Does: via}}},
			"a storage in a cluster is read and written by the lock's own client: leave out services, and the step mark, which puts the token on an object"},
		{"servers that keep no data", sim.Config{Lock: sim.Lock{Kind: locks.Kind{Name: "toy", System: "toy", HasDataClient: true}}},
			"the storage is in the cluster that keeps the lock, but the servers of the lock keep no data"},
		{"a lock whose client cannot read and write data", sim.Config{Lock: sim.Lock{Kind: locks.Kind{Name: "bare", System: "sundial"}}},
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
func TestPolicyOwnerNeedsACluster(t *testing.T) {
	cfg := sim.Config{Lock: sim.Lock{Kind: ToyLock}, Storage: sim.Storage{Fencing: storage.Owner}}
	if err := cfg.CheckStorage(); err == nil || !strings.Contains(err.Error(), "write in: cluster") {
		t.Errorf("the error is %v, want one that says to write in: cluster", err)
	}
}

// If the data is in the cluster, there is no storage process that a fault could strike.
func TestFaultOfAStorageInAClusterIsRefused(t *testing.T) {
	cfg := sim.Config{Storage: sim.Storage{InCluster: true}, Clients: []sim.Client{{Name: "client-1"}}}
	err := (sim.Fault{Action: &sim.Pause{Process: trace.StorageName}}).Check(cfg.Topology())
	if err == nil || !strings.Contains(err.Error(), `there is no process "storage"; there are client-1`) {
		t.Errorf("the error is %v, want one that says that there is no process storage", err)
	}
}
