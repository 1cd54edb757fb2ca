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

// Shake is a [sim.Config.Disturb] that has the scheduler choose otherwise each time.
func Shake() {
	for range rand.IntN(4) {
		runtime.Gosched()
	}
}

// played counts the repeats of all worlds: also those that are repeated once are not all
// repeated on one thread.
var played atomic.Int64

// Repeat plays a world, and plays it so many times again on 1, 2 and 4 threads in turn while its
// goroutines yield at random whenever they ask something of the world. It returns the trace,
// which must be the same each time.
func Repeat(t *testing.T, cfg sim.Config, repeats int) *trace.Trace {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	first := Play(t, cfg)
	cfg.Disturb = Shake
	for i := range repeats {
		threads := 1 << (played.Add(1) % 3)
		runtime.GOMAXPROCS(threads)
		if again := Play(t, cfg); again.Hash() != first.Hash() {
			t.Fatalf("run %d of %d, on %d threads, differs at %s", i+2, repeats+1, threads, trace.FirstDifference(first, again))
		}
	}
	return first
}

// LeftToChance reports whether a run says of itself that chance decided something in it, and so
// that its replays may differ.
func LeftToChance(tr *trace.Trace) bool {
	return slices.ContainsFunc(tr.Doubts, func(why string) bool { return strings.HasSuffix(why, "replays may differ") })
}
