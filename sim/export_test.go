package sim

import (
	"time"

	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// This file makes parts of the package available to the external tests.

var (
	InBubble      = inBubble
	RegisterFault = registerFault
)

type Watchdog = watchdog

const (
	BytesOfProcess    = bytesOfProcess
	BytesOfConnection = bytesOfConnection
)

// RunWithin is [Run] with other bounds: real time, events, and bytes.
func RunWithin(cfg Config, patience time.Duration, events, bytes int) (*trace.Trace, error) {
	return runWithBounds(cfg, bounds{patience, events, bytes})
}

// PanicInAnswer calls takeAnswer for a program without a process, which panics.
func PanicInAnswer(p *Program) { _, _ = (&program{w: p.g.w}).takeAnswer(storage.Response{}, nil) }

// Move counts one step of progress for the watchdog of a bubble.
func (d *watchdog) Move() { d.steps.Add(1) }

// TakeSpareEvents takes the memory that [Recycle] has kept, in its whole length.
func TakeSpareEvents() []trace.Event {
	events := spareEvents.take(0)
	return events[:cap(events)]
}
