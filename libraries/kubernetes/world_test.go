package kubernetes_test

import (
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"

	_ "github.com/locksim/locksim/libraries/kubernetes"
)

var kinds = []string{"kubernetes", "kubernetes-late-token"}

// world returns a world whose clients acquire and release the lock by themselves.
func world(t testing.TB, kind string, clients ...sim.Client) sim.Config {
	cfg := SectionsWorld(Lock(t, kind), clients...)
	cfg.Nodes = Nodes("kubernetes", 1)
	cfg.Lock.TTL = 15 * time.Second
	cfg.Network = sim.Network{Min: 200 * time.Microsecond, Max: time.Millisecond}
	return cfg
}

func gcPause(t testing.TB, kind string, fencing storage.Policy) sim.Config {
	return GCPauseWorld(t, kind, 15*time.Second, fencing)
}

// The holder is paused, and another client takes the Lease during the pause. The first
// holder still writes when it resumes.
func TestGCPause(t *testing.T) {
	for _, kind := range kinds {
		for fencing, broken := range map[storage.Policy]string{
			storage.None:   "section-exclusion inherent: needs fencing, grant-order, write-order, no-lost-update, serial-sections",
			storage.Writes: "section-exclusion inherent: needs fencing",
		} {
			tr := RunWorld(t, gcPause(t, kind, fencing))
			AllFaultsStruck(t, tr)
			Equal(t, kind+" with the storage "+string(fencing)+": violations", Violations(tr), broken)
			NoEvents(t, tr, trace.KindRanOn, "client-1")
		}
	}
}
