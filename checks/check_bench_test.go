package checks_test

import (
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
)

// The cost of reading and judging a trace, which is a small part of the cost of the world.
func BenchmarkCheck(b *testing.B) {
	s, err := scenarios.Open("gc-pause")
	if err != nil {
		b.Fatal(err)
	}
	r, err := scenarios.Run(s, scenarios.RunOptions{Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	t := r.Runs[0].History.Trace
	b.ReportAllocs()
	for b.Loop() {
		checks.Check(history.New(t), nil)
	}
	b.ReportMetric(float64(len(t.Events)), "events")
}
