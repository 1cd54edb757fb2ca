package simtest

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// YieldRandomly is a function for [sim.Config.Disturb]. It yields to other goroutines at
// random, so that the scheduler chooses differently in each run.
func YieldRandomly() {
	for range rand.IntN(4) {
		runtime.Gosched()
	}
}

// repeatsRun counts the repeats of all worlds, and determines on how many threads the next repeat
// runs. It is not reset for each world. If it were, all worlds that are repeated only once would
// run on the same number of threads.
var repeatsRun atomic.Int64

// Repeat runs a world, and then again the given number of times on 1, 2 and 4 threads in
// turn. In the repeats, the goroutines yield at random whenever they use something of the
// simulated world. Repeat returns the trace of the world, and fails the test if a repeat
// gives another trace.
func Repeat(t *testing.T, cfg sim.Config, repeats int) *trace.Trace {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	first := RunWorld(t, cfg)
	cfg.Disturb = YieldRandomly
	for i := range repeats {
		threads := 1 << (repeatsRun.Add(1) % 3)
		runtime.GOMAXPROCS(threads)
		if again := RunWorld(t, cfg); again.Hash() != first.Hash() {
			t.Fatalf("run %d of %d, on %d threads, differs at %s", i+2, repeats+1, threads, trace.FirstDifference(first, again))
		}
	}
	return first
}

// DependsOnChance reports whether a run says of itself that its replays may differ, because
// chance decided something in it.
func DependsOnChance(tr *trace.Trace) bool {
	return slices.ContainsFunc(tr.Doubts, func(why string) bool { return strings.HasSuffix(why, "replays may differ") })
}
