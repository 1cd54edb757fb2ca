// Package fakeclock provides the clocks of one process: a wall clock that can jump and
// drift, and a monotonic clock that never jumps.
//
// Code written against [Clock] runs unchanged on [System], the clocks of this machine, and
// on [Fake], the clocks of one simulated process.
package fakeclock

import (
	"context"
	"time"
)

// Kind names one of the two clocks of a process.
type Kind string

const (
	// Wall is the time of day. It can be set, and then jumps forward or back.
	Wall Kind = "wall"
	// Monotonic counts up from an arbitrary moment and never jumps. Like Linux's CLOCK_MONOTONIC,
	// the clock stops while the machine is suspended, and runs fast or slow with the machine's
	// oscillator.
	Monotonic Kind = "monotonic"
)

// A Reading is what one clock of a process showed at some moment. Readings of different
// kinds of clocks, or of different processes, cannot be compared.
type Reading struct {
	Clock Kind `json:"clock"`
	// Nanos counts nanoseconds: since 1970-01-01 UTC for a wall clock, and since an
	// arbitrary moment for a monotonic clock.
	Nanos int64 `json:"nanos"`
}

// Add returns the reading d later on the same clock.
func (r Reading) Add(d time.Duration) Reading {
	r.Nanos += int64(d)
	return r
}

// Sub returns how much time passed on the clock from s to r, which must be readings of the
// same clock.
func (r Reading) Sub(s Reading) time.Duration { return time.Duration(r.Nanos - s.Nanos) }

// Clock provides the clocks of one process, and timers on its monotonic clock. Its methods
// may be called from any goroutine of the process.
type Clock interface {
	// Now returns the wall clock's time of day.
	Now() time.Time
	// Read reads one clock.
	Read(Kind) Reading
	// Sleep returns nil when d has passed on the monotonic clock. If ctx ends first, it
	// returns the cause of ctx.
	Sleep(ctx context.Context, d time.Duration) error
	// AfterFunc calls f in its own goroutine when d has passed on the monotonic clock. stop cancels
	// the call, and reports false if f was called before.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}
