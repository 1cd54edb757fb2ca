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
	// Wall is the time of day: it can be set, so it can jump either way.
	Wall Kind = "wall"
	// Monotonic counts up from an arbitrary moment and never jumps. Like
	// Linux's CLOCK_MONOTONIC it stands still while the machine is suspended
	// and follows the rate of the machine's oscillator.
	Monotonic Kind = "monotonic"
)

// A Reading is what one of a process's clocks showed at some moment. Readings
// of different kinds, or of different processes, cannot be compared.
type Reading struct {
	Clock Kind `json:"clock"`
	// Nanos counts nanoseconds: since 1970-01-01 UTC for a wall clock, since an
	// arbitrary moment for a monotonic one.
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

// Clock is everything that a process can see of time. Its methods may be called from any
// goroutine of the process.
type Clock interface {
	// Now returns the wall clock's time of day.
	Now() time.Time
	// Read reads one clock.
	Read(Kind) Reading
	// Sleep returns nil once d has passed on the monotonic clock, or ctx's cause as soon as
	// ctx is done.
	Sleep(ctx context.Context, d time.Duration) error
	// AfterFunc calls f in its own goroutine once d has passed on the monotonic clock. stop
	// reports whether it prevented the call.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}
