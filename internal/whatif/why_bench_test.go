package whatif_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/locksim/locksim/internal/whatif"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// BenchmarkFindWhy compares the search on one thread, as the command makes it, with the search
// on two threads.
func BenchmarkFindWhy(b *testing.B) {
	s, err := scenarios.Open("gc-pause")
	if err != nil {
		b.Fatal(err)
	}
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
			for b.Loop() {
				why, err := whatif.FindWhy(s, scenarios.RunOptions{Seed: 1}, nil)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(why.Tried), "changes")
			}
		})
	}
}

// BenchmarkSkipsFencing compares a safe scenario whose run with fencing tokens is left out,
// because it can only be the same, with one that makes both runs.
func BenchmarkSkipsFencing(b *testing.B) {
	s, err := scenarios.Open("gc-pause")
	if err == nil {
		s, err = s.With("faults[1].for=20s")
	}
	if err != nil {
		b.Fatal(err)
	}
	for _, skips := range []bool{true, false} {
		b.Run(fmt.Sprintf("skips=%v", skips), func(b *testing.B) {
			o := scenarios.RunOptions{Seed: 1, SkipsFencing: func(sim.Config, scenarios.RunResult) bool { return skips }}
			for b.Loop() {
				if _, _, err := s.Variants[0].RunBoth(o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
