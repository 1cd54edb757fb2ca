package etcd_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/locksim/locksim/sim"
	. "github.com/locksim/locksim/sim/simtest"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// TestDeterminism runs equal worlds on one, two and four threads while goroutines yield at
// random, and wants one trace.
func TestDeterminism(t *testing.T) {
	repeats := 300
	if testing.Short() {
		repeats = 20
	}
	for _, members := range []int{1, 3} {
		t.Run(fmt.Sprint(members), func(t *testing.T) {
			cfg := gcPause(members, storage.Writes)
			cfg.Disturb = Shake
			first := Play(t, cfg)
			for _, procs := range []int{1, 2, 4} {
				before := runtime.GOMAXPROCS(procs)
				defer runtime.GOMAXPROCS(before)
				for i := range repeats {
					if again := Play(t, cfg); again.Hash() != first.Hash() {
						t.Fatalf("repeat %d on %d threads: %s", i, procs, trace.FirstDifference(first, again))
					}
				}
			}
		})
	}
}

func BenchmarkGCPause(b *testing.B) {
	for _, members := range []int{1, 3} {
		b.Run(fmt.Sprint(members), func(b *testing.B) {
			cfg := gcPause(members, storage.Writes)
			for b.Loop() {
				if _, err := sim.Run(cfg); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
