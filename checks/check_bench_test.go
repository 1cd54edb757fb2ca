package checks_test

import (
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
)

// BenchmarkCheck measures how long it takes to read and judge a trace. That is little
// compared with the run of the world.
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
