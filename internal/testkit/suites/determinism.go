package suites

import (
	"path"
	"slices"
	"testing"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// OfAdapter selects the locks that an adapter makes; adapter is the name of a folder in
// libraries.
func OfAdapter(adapter string) LockFilter {
	return func(k locks.Kind) bool { return path.Base(k.Adapter) == adapter }
}

// CheckDeterminism tests that a scenario and a seed always give the same trace, whatever the
// scheduler does. Each run is repeated on 1, 2 and 4 threads while its goroutines yield at random
// whenever they use something of the simulated world. With other locks than the scenario's own,
// each run is repeated a tenth as often, but at least once. With -short there is one repeat, and
// only with the scenario's own lock. The run with fencing tokens is not repeated if the run without
// them violates nothing: then both are the same run (see [CheckExpectations]).
func CheckDeterminism(t *testing.T, repeats int, has LockFilter) {
	for _, s := range scenarios.Embedded() {
		for _, v := range s.Variants {
			for _, lock := range locksToTry(v) {
				if !has.matchesName(lock) {
					continue
				}
				var offTrace *trace.Trace
				for _, fencing := range []string{scenarios.Off, scenarios.On} {
					config, err := v.Config(scenarios.Options{Seed: 7, Lock: lock, Fencing: fencing})
					if lock != v.Lock && (testing.Short() || err != nil || fencing == scenarios.On) {
						continue // the scenario does not apply to the other lock, or the run without fencing was enough: other locks ignore fencing
					}
					if lock != v.Lock {
						// After two minutes either the run has ended, or no client will
						// ever acquire the lock: rueidislock ignores answers that take
						// longer than 20ms.
						config.Horizon = min(config.Horizon, 2*time.Minute)
					}
					if offTrace != nil && refusesOnlyLateWrites(t, v, "") && len(violated(checks.Check(history.New(offTrace), nil), scenarios.Expectation{})) == 0 {
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
						offTrace = simtest.Repeat(t, config, repeats)
					})
				}
			}
		}
	}
}

// locksToTry returns the locks with which a variant is run, in alphabetical order: those
// for which it has an expectation, and four locks of different designs.
func locksToTry(v *scenarios.Variant) []string {
	all := append([]string{"redlock", "single", "redsync", "rueidislock"}, v.Locks()...)
	return slices.Compact(slices.Sorted(slices.Values(all)))
}
