//go:build unix

// Package processor is how long benchmarks keep a processor busy: others work on this machine,
// too.
package processor

import (
	"syscall"
	"testing"
	"time"
)

// Time is what this process has used of its processors until now.
func Time(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
