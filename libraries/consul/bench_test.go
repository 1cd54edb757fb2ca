//go:build unix

package consul_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
)

// BenchmarkGCPause reports the processor time of one world: of the story with its lock-delay.
func BenchmarkGCPause(b *testing.B) {
	cfg := gcPause(b, "consul", storage.Writes)
	b.ReportAllocs()
	before := processorTime()
	for b.Loop() {
		if _, err := sim.Run(cfg); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(processorTime()-before)/float64(time.Millisecond)/float64(b.N), "cpu-ms/world")
}

// processorTime is what the process has used of its processors.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
