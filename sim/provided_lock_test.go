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
func TestLockWithoutAnImplementationIsRefused(t *testing.T) {
	cfg := SectionsWorld(ToyLock, sim.Client{Name: "client-1"})
	cfg.Lock.Kind = locks.Kind{Name: "their-lock", Slots: cfg.Lock.Kind.Slots, Adapter: "example.com/adapter"}
	tr, err := sim.Run(cfg)
	if tr != nil || err == nil {
		t.Fatalf("Run returned a trace or no error (%v), want only an error", err)
	}
	Equal(t, "the error", err.Error(), "sim: the lock their-lock is not in this program: import the package example.com/adapter, which provides it")
}
