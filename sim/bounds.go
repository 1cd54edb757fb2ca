package sim

import (
	"errors"
	"fmt"
	"time"
)

// ErrTooMuch is wrapped by the error of a world with more events than a trace can hold, or than
// [Config.MaxEvents]. ErrTooLarge is wrapped by the error of a world whose events, messages and
// processes need too much memory. A world with ErrTooLarge ends at the same event on every
// machine; a world with [ErrLate] does not.
var (
	ErrTooMuch  = errors.New("too much happens in this world")
	ErrTooLarge = errors.New("the world is too large")
)

// ErrLate is wrapped by the error of a world that was cut off because it took too much real
// time. Whether and when that happens depends on the machine, so the error says nothing
// about the lock.
var ErrLate = errors.New("the world takes too long")

// ErrHeavy is wrapped by the error of a world that was cut off because this operating
// system process used too much memory while the world ran. The clients' own code has used
// that memory; [ErrTooLarge] does not count it. Whether and when the world is cut off
// depends on the machine, so the error says nothing about the lock. For that reason
// [errors.Is] regards ErrHeavy as an [ErrLate] too.
var ErrHeavy error = heavyError{}

// heavyError is the type of [ErrHeavy].
type heavyError struct{}

func (heavyError) Error() string        { return "the world takes too much memory" }
func (heavyError) Is(target error) bool { return target == ErrLate }

// bounds are the limits of one world.
type bounds struct {
	// patience is how much real time the world may take. A world is stuck if it makes no progress
	// for half of that time, or for [minStillTime] if that is longer.
	patience time.Duration
	// events is how many events the trace can hold. bytes is how much memory the world's
	// events, messages and processes may take, by the estimates below.
	events, bytes int
}

// maxEvents is how many events a trace can hold. A large world has 20,000.
const maxEvents = 200_000

// usualBounds returns the bounds of every world outside tests. The memory is enough for the
// largest number of events, if they have the usual size.
func usualBounds(patience time.Duration) bounds {
	return bounds{patience: patience, events: maxEvents, bytes: 512 << 20}
}

// These are estimates of the memory that things take, in bytes. They are constants, so a
// world that exceeds its bounds ends at the same event on every machine, however Go
// allocates memory there.
const (
	bytesOfEvent   = 500
	bytesOfMessage = 200
	// A connection has a goroutine, buffers, a client at one end and a server at the other.
	bytesOfConnection = 10_000
	bytesOfLink       = 500
	bytesOfProcess    = 30_000
	// About this many copies of the text of a message or a key are kept: by the client's
	// library, the network, the server, and the trace.
	textCopies = 3
)

// charge accounts for memory that the world keeps until its end, in bytes. Most of it is in the
// trace. Only the world's event loop (see [World.loop]) may call charge.
func (w *World) charge(bytes int) {
	w.charged.Add(int64(bytes))
	w.checkMemory()
}

// checkMemory ends the world if it exceeds its bound on memory. Only the loop may call checkMemory.
func (w *World) checkMemory() {
	if w.room() < 0 || w.reserveFailed.Load() {
		w.stopWith(ErrTooLarge, "%d events, and more than %d MB of memory, by %v; use fewer clients and nodes, shorter keys and values, or a shorter run",
			w.events.count, w.bounds.bytes>>20, w.now().Round(time.Millisecond))
	}
}

// room returns how many more bytes the world may use. It is negative if the world has
// exceeded its bound.
func (w *World) room() int {
	return w.bounds.bytes - int(w.charged.Load()+textCopies*w.reserved.Load())
}

// reserve accounts for bytes of text that the caller keeps until it calls unreserve, and reports
// whether the world has room for them. If there is no room, the caller must not keep the text, and
// the loop ends the world when every goroutine waits. The sum of all reservations in one round of
// the loop does not depend on the order of the goroutines. So the world ends at the same event on
// every machine. Any goroutine may call reserve.
func (w *World) reserve(bytes int) bool {
	if bytes <= 0 {
		return true
	}
	w.reserved.Add(int64(bytes))
	if w.room() < 0 {
		w.reserveFailed.Store(true)
		return false
	}
	return true
}

// unreserve ends the reservation of some bytes. Any goroutine may call unreserve.
func (w *World) unreserve(bytes int) { w.reserved.Add(-int64(bytes)) }

// stopWith makes the world end at the beginning of the loop's next round. The error of the world
// then wraps kind. Later calls do nothing.
func (w *World) stopWith(kind error, format string, args ...any) {
	if w.stopError == nil {
		w.stopError = fmt.Errorf("%w: %s", kind, fmt.Sprintf(format, args...))
	}
}

// newLateError returns the error of a world that is cut off now because it has taken too
// much real time.
func (w *World) newLateError() error {
	return fmt.Errorf("%w: it was cut off after %v of real time, at %v of virtual time and after %d events, so its result is unknown; make it smaller, or give it more time",
		ErrLate, w.bounds.patience, w.now().Round(time.Millisecond), w.events.count)
}

// newHeavyError returns the error of a world that is cut off now because the process uses
// too much memory.
func (w *World) newHeavyError() error {
	return fmt.Errorf("%w: it was cut off when the process used %d MB more than before, at %v of virtual time and after %d events, so its result is unknown; make the lock's own code use less memory and start fewer goroutines",
		ErrHeavy, maxMemoryGrowth>>20, w.now().Round(time.Millisecond), w.events.count)
}

// maxConnections bounds the number of connections that clients open to nodes before the
// run begins. The events of more connections would fill the trace.
const maxConnections = 20_000

// countConnections returns how many connections the clients open to nodes before the run
// begins. Each client connects to the nodes that keep its lock, and to the nodes that count
// its tokens.
func (cfg *Config) countConnections() int {
	nodesOfLock, counting := 0, 0
	for _, n := range cfg.Nodes {
		if cfg.countsTokens(n) {
			counting++
		}
	}
	if kind := cfg.Lock.Kind; kind.Slots != nil {
		used := map[int]bool{}
		slots, _ := kind.Slots(cfg.Lock.Key, len(cfg.masters()))
		for _, s := range slots {
			used[s.Node] = true
		}
		nodesOfLock = len(used)
	}
	return len(cfg.Clients) * (nodesOfLock + counting)
}

// CheckSize returns an error if the world is too large even before its run begins.
func (cfg *Config) CheckSize() error {
	if n := cfg.countConnections(); n > maxConnections {
		return fmt.Errorf("%d clients would open %d connections to nodes, but a world has room for %d; use fewer clients or fewer nodes",
			len(cfg.Clients), n, maxConnections)
	}
	return nil
}
