//go:build unix

package etcd_test

import (
	"fmt"
	"runtime/debug"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/locksim/locksim/sim"
)

// BenchmarkGCPause reports the processor time of one world, on one member and on three.
func BenchmarkGCPause(b *testing.B) {
	for _, members := range []int{1, 3} {
		for _, kind := range []string{"etcd", "etcd-election"} {
			b.Run(fmt.Sprint(kind, "/", members), func(b *testing.B) {
				cfg := gcPause(b, kind, members)
				b.ReportAllocs()
				before := processorTime()
				for b.Loop() {
					if _, err := sim.Run(cfg); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(processorTime()-before)/float64(time.Millisecond)/float64(b.N), "cpu-ms/world")
			})
		}
	}
}

// BenchmarkGrowth plays worlds with more and more clients, who want one lock after the other,
// and with more and more members. It reports the processor time that an event takes in the
// dearest world divided by that in the cheapest, and logs the times. The worlds take turns,
// and the best turn of each counts.
func BenchmarkGrowth(b *testing.B) {
	for _, axis := range []struct {
		of    string
		sizes []int
		world func(n int) sim.Config
	}{
		{"clients", []int{2, 11, 31, 101}, func(n int) sim.Config { return crowd(b, 3, n) }},
		{"members", []int{1, 3, 5}, func(n int) sim.Config { return crowd(b, n, 5) }},
	} {
		b.Run(axis.of, func(b *testing.B) {
			defer debug.SetGCPercent(debug.SetGCPercent(800)) // as the command has it
			best, events := make([]float64, len(axis.sizes)), make([]int, len(axis.sizes))
			for b.Loop() {
				for i, n := range axis.sizes {
					cfg, played := axis.world(n), 0
					before := processorTime()
					for played < 10_000 {
						tr, err := sim.Run(cfg)
						if err != nil {
							b.Fatal(err)
						}
						events[i] = len(tr.Events)
						played += events[i]
					}
					each := float64((processorTime() - before).Nanoseconds()) / 1e3 / float64(played)
					if best[i] == 0 || each < best[i] {
						best[i] = each
					}
				}
			}
			for i, n := range axis.sizes {
				b.Logf("%4d %-8s %6d events, of which each takes %5.1f µs", n, axis.of, events[i], best[i])
			}
			b.ReportMetric(slices.Max(best)/slices.Min(best), "ratio")
		})
	}
}

// crowd is many clients who want one lock, and no faults.
func crowd(b *testing.B, members, clients int) sim.Config {
	cfg := gcPause(b, "etcd", members)
	cfg.Faults, cfg.Clients = nil, nil
	for i := range clients {
		cfg.Clients = append(cfg.Clients, sim.Client{Name: fmt.Sprint("client-", i+1), Sections: 3, RetryEvery: time.Second, Works: 5 * time.Millisecond})
	}
	return cfg
}

// processorTime is what the process has used of its processors.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
