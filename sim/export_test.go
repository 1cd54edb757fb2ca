package sim

import (
	"time"

	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// What the external tests use of the inside of the package.

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
	return runWithin(cfg, bounds{patience, events, bytes})
}

// PanicInAnswer makes a client take an answer in a process that does not exist, which
// panics.
func PanicInAnswer(p *Program) { _, _ = (&program{w: p.g.w}).takeAnswer(storage.Response{}, nil) }

// Move is a sign of life of a bubble.
func (d *watchdog) Move() { d.moves.Add(1) }
