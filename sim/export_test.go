package sim

import (
	"time"

	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// What the tests see of the inside of the package, which they test from outside.

var (
	InBubble      = inBubble
	RegisterFault = registerFault
)

type Watchdog = watchdog

const (
	BytesOfProcess    = bytesOfProcess
	BytesOfConnection = bytesOfConnection
)

// RunWithin is [Run] with bounds of its own: real time, events, and bytes.
func RunWithin(cfg Config, patience time.Duration, events, bytes int) (*trace.Trace, error) {
	return runWithin(cfg, bounds{patience, events, bytes})
}

// HearNobody has a client hear an answer in a process that is none, which panics.
func HearNobody(p *Program) { _, _ = (&program{w: p.g.w}).settled(storage.Response{}, nil) }

// Move is a sign of life of a bubble.
func (d *watchdog) Move() { d.moves.Add(1) }
