//go:build unix

package simtest

import (
	"runtime/debug"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/locksim/locksim/sim"
)

// ProcessorTime returns the processor time that this process has used so far. Benchmarks report it
// instead of the real time, because other programs also use the machine.
func ProcessorTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// MeasureWorld is a benchmark of one world: it reports the processor time of a run.
func MeasureWorld(b *testing.B, cfg sim.Config) {
	b.Helper()
	b.ReportAllocs()
	before := ProcessorTime(b)
	for b.Loop() {
		countEvents(b, cfg)
	}
	b.ReportMetric(float64(ProcessorTime(b)-before)/float64(time.Millisecond)/float64(b.N), "cpu-ms/world")
}

// MeasureGrowth is a benchmark that runs worlds of several sizes. It logs the processor
// time per event for each size. It reports the largest of these times divided by the
// smallest, which is near 1 if an event costs the same in a large world. The sizes are
// measured in turn, several times, and only the best time of each size counts.
func MeasureGrowth(b *testing.B, unit string, sizes []int, world func(n int) sim.Config) {
	b.Run(unit, func(b *testing.B) {
		defer debug.SetGCPercent(debug.SetGCPercent(800)) // as in the command
		best, events := make([]float64, len(sizes)), make([]int, len(sizes))
		for b.Loop() {
			for i, n := range sizes {
				const minEvents = 10_000
				cfg, total := world(n), 0
				before := ProcessorTime(b)
				for total < minEvents {
					events[i] = countEvents(b, cfg)
					total += events[i]
				}
				each := float64((ProcessorTime(b) - before).Nanoseconds()) / 1e3 / float64(total)
				if best[i] == 0 || each < best[i] {
					best[i] = each
				}
			}
		}
		for i, n := range sizes {
			b.Logf("%4d %-8s %6d events, of which each takes %5.1f µs", n, unit, events[i], best[i])
		}
		b.ReportMetric(slices.Max(best)/slices.Min(best), "ratio")
	})
}

// countEvents runs a world and counts its events.
func countEvents(b *testing.B, cfg sim.Config) int {
	b.Helper()
	tr, err := sim.Run(cfg)
	if err != nil {
		b.Fatal(err)
	}
	return len(tr.Events)
}
