package consul_test

import (
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	_ "github.com/locksim/locksim/libraries/consul"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

func gcPause(t testing.TB, kind string, fencing storage.Policy) sim.Config {
	return GCPauseWorld(t, kind, 15*time.Second, fencing)
}

// The holder is paused, and its session ends during the pause. The holder still writes when
// it resumes.
func TestGCPause(t *testing.T) {
	for fencing, broken := range map[storage.Policy]string{
		storage.None:   "section-exclusion inherent: needs fencing, grant-order, write-order, no-lost-update, serial-sections",
		storage.Writes: "section-exclusion inherent: needs fencing",
	} {
		tr := RunWorld(t, gcPause(t, "consul", fencing))
		AllFaultsStruck(t, tr)
		Equal(t, "violations with the storage "+string(fencing), Violations(tr), broken)
		NoEvents(t, tr, trace.KindRanOn, "client-1")
		t.Log(Dump(tr))
	}
}
