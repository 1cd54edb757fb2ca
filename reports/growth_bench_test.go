//go:build unix

package reports_test

import (
	"fmt"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// BenchmarkGrowth runs, judges and describes worlds of growing size. It tests that the cost of an
// event does not depend on the number of events. For the whole and for each of the three parts, it
// reports a ratio: the processor time for an event in the largest world, divided by the smallest
// such time among all worlds. It also logs the times.
//
// The worlds are measured in turn, several times, and the best time of each counts. Other load on
// the machine disturbs only some of the measurements.
func BenchmarkGrowth(b *testing.B) {
	for _, axis := range []struct {
		of    string             // what grows
		sizes []int              // how many of them each world has
		world func(n int) string // the YAML of the world of size n
	}{
		{"nodes", []int{5, 11, 25, 51, 101}, func(n int) string {
			return fmt.Sprintf("lock: {kind: redlock, ttl: 10s, nodes: %d}\n", n) +
				equalClients(2, "{sections: 10, key: lock-%d}")
		}},
		{"clients", []int{2, 10, 50, 200, 1000}, func(n int) string {
			// With more clients, each client asks less often, so that the share of failed
			// attempts stays the same.
			return "lock: {kind: single, ttl: 10s}\n" +
				equalClients(n, fmt.Sprintf("{sections: 5, works: 5ms, retry-every: %dms, retry: jitter}", 10*n))
		}},
		{"locks", []int{2, 10, 50, 200}, func(n int) string {
			return "lock: {kind: single, ttl: 10s}\n" +
				equalClients(n, "{sections: 10, key: lock-%d}")
		}},
		{"sections", []int{1, 10, 100, 1000, 2000}, func(n int) string {
			return "lock: {kind: single, ttl: 10s}\n" +
				equalClients(2, fmt.Sprintf("{sections: %d, works: 5ms, retry-every: 20ms}", n))
		}},
	} {
		b.Run(axis.of, func(b *testing.B) {
			defer debug.SetGCPercent(debug.SetGCPercent(800)) // the same setting as in the command locksim
			var worlds []*growingWorld
			for _, n := range axis.sizes {
				worlds = append(worlds, newGrowingWorld(b, axis.world(n)))
			}
			for b.Loop() {
				for _, w := range worlds {
					w.measure(b)
				}
			}
			for i, w := range worlds {
				b.Logf("%5d %-8s %6d events, of which each takes %5.1f µs: %4.1f to be run, %4.1f to be judged and %4.1f to be described",
					axis.sizes[i], axis.of, w.events, w.each[whole], w.each[played], w.each[judged], w.each[narrated])
			}
			for part, unit := range [parts]string{"ratio", "played-ratio", "judged-ratio", "told-ratio"} {
				least, largest := worlds[0].each[part], worlds[len(worlds)-1].each[part]
				for _, w := range worlds {
					least = min(least, w.each[part])
				}
				b.ReportMetric(largest/least, unit)
			}
		})
	}
}

// equalClients returns the YAML of n clients that all do the same.
func equalClients(n int, does string) string {
	var all strings.Builder
	all.WriteString("clients:\n")
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&all, "  client-%d: %s\n", i, strings.ReplaceAll(does, "%d", fmt.Sprint(i)))
	}
	return all.String()
}

// The parts of the work on a world.
const (
	whole = iota
	played
	judged
	narrated
	parts
)

// growingWorld is a world of one size. each contains the least time for an event in each
// part of the work, in microseconds.
type growingWorld struct {
	variant *scenarios.Variant
	config  sim.Config
	events  int
	each    [parts]float64
}

// newGrowingWorld returns the world that a scenario's text describes.
func newGrowingWorld(b *testing.B, world string) *growingWorld {
	b.Helper()
	s, err := scenarios.Parse("growth.yaml", []byte("title: A world that grows\nassumption: none\n"+world))
	if err != nil {
		b.Fatal(err)
	}
	w := &growingWorld{variant: s.Variants[0]}
	if w.config, err = w.variant.Config(scenarios.Options{Seed: 1, Fencing: scenarios.Off}); err != nil {
		b.Fatal(err)
	}
	return w
}

// measure runs, judges and describes the world once. If the world is small, it does so
// repeatedly, so that the time includes its share of garbage collection.
func (w *growingWorld) measure(b *testing.B) {
	const enough = 20_000
	var took [parts]time.Duration
	events := 0
	for events < enough {
		start := simtest.ProcessorTime(b)
		t, err := sim.Run(w.config)
		if err != nil {
			b.Fatal(err)
		}
		ran := simtest.ProcessorTime(b)
		run := w.variant.Judge(t, w.variant.Lock, scenarios.Off)
		judgement := simtest.ProcessorTime(b)
		story.Clauses(run.History, false)
		story.NewParagraph(run.History, run.Verdict)
		end := simtest.ProcessorTime(b)

		w.events = len(t.Events)
		events += w.events
		took[whole] += end - start
		took[played] += ran - start
		took[judged] += judgement - ran
		took[narrated] += end - judgement
	}
	for part := range took {
		if each := float64(took[part].Nanoseconds()) / 1e3 / float64(events); w.each[part] == 0 || each < w.each[part] {
			w.each[part] = each
		}
	}
}
