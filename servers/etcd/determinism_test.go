package etcd_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// TestDeterminism checks that equal worlds have equal traces on one, two and four threads,
// even while goroutines yield at random.
func TestDeterminism(t *testing.T) {
	for _, world := range []struct {
		name    string
		repeats int
		sim.Config
	}{
		{"one member", 300, gcPause(1, storage.Writes)},
		{"three members", 300, gcPause(3, storage.Writes)},
		{"the leader crashes", 60, threeMembers(1, 2, Lasting(4*time.Second, At(5*time.Second, CrashOf("etcd-1", trace.Kill))))},
		{"the leader is cut off", 60, threeMembers(0, 1, Lasting(40*time.Second, At(5*time.Second, cutOff("etcd-1", "etcd-2", "etcd-3"))))},
		{"a majority is down", 60, threeMembers(1, 1,
			Lasting(20*time.Second, At(5*time.Second, CrashOf("etcd-1", trace.Kill))),
			Lasting(20*time.Second, At(5*time.Second, CrashOf("etcd-3", trace.PowerLoss))))},
	} {
		t.Run(world.name, func(t *testing.T) {
			cfg, repeats := world.Config, world.repeats
			if testing.Short() {
				repeats = 10
			}
			cfg.Disturb = YieldRandomly
			first := RunWorld(t, cfg)
			for _, procs := range []int{1, 2, 4} {
				before := runtime.GOMAXPROCS(procs)
				defer runtime.GOMAXPROCS(before)
				for i := range repeats {
					if again := RunWorld(t, cfg); again.Hash() != first.Hash() {
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
