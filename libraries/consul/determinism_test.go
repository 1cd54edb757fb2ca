package consul_test

import (
	"flag"
	"runtime"
	"testing"

	"github.com/locksim/locksim/sim"
	. "github.com/locksim/locksim/sim/simtest"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

var repeats = flag.Int("repeats", 10, "how often TestDeterminism repeats each world on each number of threads")

// One configuration, one trace: on any number of threads, and however the scheduler is
// disturbed.
func TestDeterminism(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for name, cfg := range map[string]sim.Config{
		"gc-pause": gcPause(t, "consul", storage.Writes),
	} {
		t.Run(name, func(t *testing.T) {
			want := Play(t, cfg)
			Struck(t, want)
			cfg.Disturb = Shake
			for i := range 3 * *repeats {
				runtime.GOMAXPROCS(1 << (i % 3))
				if got := Play(t, cfg); got.Hash() != want.Hash() {
					t.Fatalf("repeat %d: %s", i, trace.FirstDifference(want, got).String())
				}
			}
		})
	}
}
