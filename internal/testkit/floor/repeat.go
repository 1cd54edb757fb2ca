package floor

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

// YieldRandomly is a [sim.Config.Disturb] that makes the scheduler choose differently each
// time.
func YieldRandomly() {
	for range rand.IntN(4) {
		runtime.Gosched()
	}
}

// repeatsRun counts the repeats of all worlds. The count continues from world to world, so
// worlds that are repeated once do not all run on the same number of threads.
var repeatsRun atomic.Int64

// Repeat runs a world, and then again the given number of times on 1, 2 and 4 threads in
// turn, while its goroutines yield at random whenever they ask something of the world. It
// returns the trace, which must be the same each time.
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

// DependsOnChance reports whether a run declares that chance decided something in it, and
// that its replays may therefore differ.
func DependsOnChance(tr *trace.Trace) bool {
	return slices.ContainsFunc(tr.Doubts, func(why string) bool { return strings.HasSuffix(why, "replays may differ") })
}
