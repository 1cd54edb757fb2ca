package sim_test

import (
	"testing"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
)

// A lock without an implementation in this program is refused. In a run every attempt to
// acquire would fail, and a comparison of two runs would not notice that the lock is
// missing.
func TestALockThatNobodyProvidesIsRefused(t *testing.T) {
	cfg := SectionsWorld(ToyLock, sim.Client{Name: "client-1"})
	cfg.Lock.Kind = locks.Kind{Name: "their-lock", Slots: cfg.Lock.Kind.Slots, Adapter: "example.com/adapter"}
	tr, err := sim.Run(cfg)
	if tr != nil || err == nil {
		t.Fatalf("it is played: %v", err)
	}
	Equal(t, "why not", err.Error(), "sim: the lock their-lock is not in this program: import the package example.com/adapter, which provides it")
}
