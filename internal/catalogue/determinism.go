package catalogue

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Deterministic tries that one scenario and one seed are one trace, whatever the
// scheduler does. Each run is repeated on 1, 2 and 4 threads while its goroutines yield
// at random whenever they ask something of the world; with other locks than the
// scenario's own a tenth as often, but at least once. -short repeats it once, with its own
// lock alone.
func Deterministic(t *testing.T, repeats int, has Has) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	runs := 0
	for _, s := range scenarios.Embedded() {
		for _, v := range s.Variants {
			for _, lock := range slices.Compact(slices.Sorted(slices.Values([]string{v.Lock, "redlock", "single", "redsync", "rueidislock"}))) {
				if !has.named(lock) {
					continue
				}
				for _, fencing := range []string{scenarios.Off, scenarios.On} {
					config, err := v.Config(scenarios.Options{Seed: 7, Lock: lock, Fencing: fencing})
					if lock != v.Lock && (testing.Short() || err != nil || fencing == scenarios.On) {
						continue // it cannot be told with another lock, or has been: locks know nothing of fencing
					}
					if lock != v.Lock {
						// By then it is over, or nobody will ever get the lock: rueidislock
						// takes no answer after 20ms.
						config.Horizon = min(config.Horizon, 2*time.Minute)
					}
					t.Run(s.Name+"/"+v.Name+"/"+lock+"/"+fencing, func(t *testing.T) {
						if err != nil {
							t.Fatal(err)
						}
						first := run(t, config)
						config.Disturb = func() {
							for range rand.IntN(4) {
								runtime.Gosched()
							}
						}
						repeats := repeats
						if lock != v.Lock {
							repeats = max(repeats/10, 1)
						}
						if testing.Short() {
							repeats = 1
						}
						for i := range repeats {
							threads := 1 << (runs % 3)
							runs++
							runtime.GOMAXPROCS(threads)
							again := run(t, config)
							if again.Hash() != first.Hash() {
								t.Fatalf("run %d of %d, on %d threads, differs at %s", i+2, repeats+1, threads, trace.FirstDifference(first, again))
							}
						}
					})
				}
			}
		}
	}
}

func run(t *testing.T, config sim.Config) *trace.Trace {
	t.Helper()
	tr, err := sim.Run(config)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}
