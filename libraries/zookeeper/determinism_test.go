package zookeeper_test

import (
	"flag"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

var repeats = flag.Int("repeats", 10, "how often TestDeterminism repeats each world on each number of threads")

// worlds returns worlds whose traces must be the same in each run.
func worlds(t testing.TB) map[string]sim.Config {
	all := map[string]sim.Config{
		"data beside the lock": staleReadWorld(t, time.Second, sim.Storage{OwnClient: true, Reads: "synced", Fencing: storage.Optimistic}),
	}
	for _, kind := range kinds {
		all[kind+", gc-pause"] = gcPause(t, kind, storage.Writes)
		all[kind+", leader crash"] = leaderCrash(t, kind, trace.Kill)
		all[kind+", leader pause"] = leaderPause(t, kind)
		all[kind+", leader cut off"] = leaderApart(t, kind)
		all[kind+", follower cut off"] = followerApart(t, kind)
	}
	return all
}

// Equal worlds have equal traces, on any number of threads and however the scheduler is
// disturbed.
func TestDeterminism(t *testing.T) {
	for name, cfg := range worlds(t) {
		t.Run(name, func(t *testing.T) { AllFaultsStruck(t, Repeat(t, cfg, 3**repeats)) })
	}
}
