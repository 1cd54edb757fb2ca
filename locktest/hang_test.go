package locktest

import (
	"context"
	"slices"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/runs"
)

// fakeWorlds returns the same result for each world.
type fakeWorlds struct {
	runs.Backend
	result runs.WorldResult
}

func (f *fakeWorlds) Run(context.Context, runs.WorldSpec) (runs.WorldResult, error) {
	return f.result, nil
}

// A search stops after five worlds that hang, if they are nearly all worlds, or if they take
// much real time. If such worlds are a tenth of all, it stops after two.
func TestHangWatch(t *testing.T) {
	sound := runs.WorldResult{}
	hangs := runs.WorldResult{Off: runs.RunResult{Breaks: []runs.Break{{What: string(checks.Hang), Blame: checks.BlameLock}}}}
	stuck := runs.WorldResult{Off: runs.RunResult{Breaks: []runs.Break{{What: string(checks.Hang), Blame: checks.BlameLock, Why: "the world is stuck"}}}}
	for name, c := range map[string]struct {
		results []runs.WorldResult
		stops   bool
	}{
		"five that hang":                        {[]runs.WorldResult{hangs, hangs, hangs, hangs, hangs}, true},
		"four that hang":                        {[]runs.WorldResult{hangs, hangs, hangs, hangs}, false},
		"five that hang, and one that does not": {[]runs.WorldResult{sound, hangs, hangs, hangs, hangs, hangs}, false},
		"one that is stuck":                     {[]runs.WorldResult{stuck, sound}, false},
		"two that are stuck, of ten":            {append(slices.Repeat([]runs.WorldResult{sound}, 8), stuck, stuck), true},
		"two that are stuck, of thirty":         {append(slices.Repeat([]runs.WorldResult{sound}, 28), stuck, stuck), false},
		"five that are stuck, and others":       {[]runs.WorldResult{sound, stuck, sound, stuck, stuck, sound, stuck, stuck}, true},
	} {
		worlds, stops := &fakeWorlds{}, 0
		watch := &hangWatch{Backend: worlds, stop: func() { stops++ }}
		for _, worlds.result = range c.results {
			if _, err := watch.Run(t.Context(), runs.WorldSpec{}); err != nil {
				t.Fatal(err)
			}
		}
		if watch.hasStopped() != c.stops || (stops == 1) != c.stops {
			t.Errorf("%s: the search stops: %v, and stop is called %d times; want that it stops: %v", name, watch.hasStopped(), stops, c.stops)
		}
	}
}
