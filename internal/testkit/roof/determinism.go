package roof

import (
	"path"
	"slices"
	"testing"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/testkit/floor"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// MadeBy is every lock that an adapter makes: one of the folders of libraries.
func MadeBy(adapter string) Has {
	return func(k locks.Kind) bool { return path.Base(k.Adapter) == adapter }
}

// Deterministic tries that one scenario and one seed are one trace, whatever the
// scheduler does. Each run is repeated on 1, 2 and 4 threads while its goroutines yield
// at random whenever they ask something of the world; with other locks than the
// scenario's own a tenth as often, but at least once. -short repeats it once, with its own
// lock alone. Where nothing is violated without fencing tokens, the run with them is the same
// run ([AsExpected]), and is not repeated.
func Deterministic(t *testing.T, repeats int, has Has) {
	for _, s := range scenarios.Embedded() {
		for _, v := range s.Variants {
			for _, lock := range tellable(v) {
				if !has.named(lock) {
					continue
				}
				var without *trace.Trace
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
					if without != nil && refusesOnlyLateWrites(t, v, "") && len(violated(checks.Check(history.Of(without), nil), scenarios.Expectation{})) == 0 {
						continue
					}
					t.Run(s.Name+"/"+v.Name+"/"+lock+"/"+fencing, func(t *testing.T) {
						if err != nil {
							t.Fatal(err)
						}
						repeats := repeats
						if lock != v.Lock {
							repeats = max(repeats/10, 1)
						}
						if testing.Short() {
							repeats = 1
						}
						without = floor.Repeat(t, config, repeats)
					})
				}
			}
		}
	}
}

// tellable are the locks that a variant is told with, in alphabetical order: those that it
// expects something with, and some that are unlike each other.
func tellable(v *scenarios.Variant) []string {
	all := append([]string{"redlock", "single", "redsync", "rueidislock"}, v.Locks()...)
	return slices.Compact(slices.Sorted(slices.Values(all)))
}
