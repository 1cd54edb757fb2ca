package sim

import (
	"errors"
	"fmt"
	"time"
)

// ErrTooMuch is wrapped by the error of a world in which more happened than a trace can
// hold. ErrTooLarge is wrapped by the error of a world that needs too much memory for what
// happens in it. Both are the same on every machine, unlike [ErrLate].
var (
	ErrTooMuch  = errors.New("too much happens in this world")
	ErrTooLarge = errors.New("the world is too large")
)

// ErrLate is wrapped by the error of a world that was cut off because it took too much real
// time. Whether that happens, and when, depends on the machine. It therefore says nothing
// about the lock.
var ErrLate = errors.New("the world takes too long")

// ErrHeavy is wrapped by the error of a world that was cut off because the process used too
// much memory while it ran. The client's own code takes that memory, and the world's own
// accounting does not see it. Whether it is noticed, and when, depends on the machine, as
// with [ErrLate]. [errors.Is] reports ErrHeavy as ErrLate too: it says nothing about the
// lock.
var ErrHeavy error = heavyError{}

type heavyError struct{}

func (heavyError) Error() string        { return "the world takes too much memory" }
func (heavyError) Is(target error) bool { return target == ErrLate }

// bounds are the limits of one world.
type bounds struct {
	// patience is how much real time the world may take. It is stuck if nothing happens for
	// half of it.
	patience time.Duration
	// events is how many events its trace can hold. bytes is how much memory may go into
	// what the world has made.
	events, bytes int
}

// maxEvents is how many events a trace can hold; 20,000 is a large world.
const maxEvents = 200_000

// usualBounds are the bounds of every world except some in tests. The memory is enough for
// a world with the largest number of events, if they are of the usual size.
func usualBounds(patience time.Duration) bounds {
	return bounds{patience: patience, events: maxEvents, bytes: 512 << 20}
}

// Estimates of what things take in memory, in bytes. They are constants, so a world that
// has too much of them ends at the same event on every machine, whatever the allocator
// does.
const (
	bytesOfEvent   = 500
	bytesOfMessage = 200
	// A connection has a goroutine, buffers, a client at one end and a server at the other.
	bytesOfConnection = 10_000
	bytesOfLink       = 500
	bytesOfProcess    = 30_000
	// The text of a message or a key is kept about this many times: by the client's
	// library, the network, the server, and the records of both.
	textCopies = 3
)

// charge adds bytes that the world has made to its account. They are never given back,
// because most of them stay in the trace. Only the loop may call it.
func (w *World) charge(bytes int) {
	w.charged.Add(int64(bytes))
	w.checkMemory()
}

// checkMemory ends the world if there is too much in it. Only the loop may call it.
func (w *World) checkMemory() {
	if w.room() < 0 || w.reserveFailed.Load() {
		w.stopWith(ErrTooLarge, "%d events, and more than %d MB of memory, by %v; use fewer clients and nodes, shorter keys and values, or a shorter run",
			len(w.trace.Events), w.bounds.bytes>>20, w.now().Round(time.Millisecond))
	}
}

// room returns how many more bytes the world has room for. It is negative if the world is
// too large.
func (w *World) room() int {
	return w.bounds.bytes - int(w.charged.Load()+textCopies*w.reserved.Load())
}

// reserve accounts for bytes of text that the caller keeps until it calls unreserve, and
// reports whether the world has room for them. If it has none, the caller must not keep the
// text, and the loop ends the world once every goroutine waits. The sum of what all
// goroutines of one round reserve does not depend on which of them came first, so the world
// ends at the same event on every machine. Any goroutine may call it.
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

// unreserve gives back bytes that reserve has taken. Any goroutine may call it.
func (w *World) unreserve(bytes int) { w.reserved.Add(-int64(bytes)) }

// stopWith ends the world at its next moment with an error. Only the first call counts.
func (w *World) stopWith(how error, what string, args ...any) {
	if w.stopError == nil {
		w.stopError = fmt.Errorf("%w: %s", how, fmt.Sprintf(what, args...))
	}
}

// newLateError returns the error of a world that is cut off now because of the time that it
// takes.
func (w *World) newLateError() error {
	return fmt.Errorf("%w: it was cut off after %v of real time, at %v of virtual time and after %d events, so its result is unknown; make it smaller, or give it more time",
		ErrLate, w.bounds.patience, w.now().Round(time.Millisecond), len(w.trace.Events))
}

// newHeavyError returns the error of a world that is cut off now because of the memory that
// it takes.
func (w *World) newHeavyError() error {
	return fmt.Errorf("%w: it was cut off when the process used %d MB more than before, at %v of virtual time and after %d events, so its result is unknown; make the lock's own code use less memory and start fewer goroutines",
		ErrHeavy, maxMemory>>20, w.now().Round(time.Millisecond), len(w.trace.Events))
}

// maxConnections bounds the connections that clients have open to nodes when the story
// begins. More than that would fill the trace by themselves.
const maxConnections = 20_000

// connections returns how many connections the clients open to nodes before the story
// begins. Each client connects to the nodes that keep its lock, and to those that count its
// tokens.
func (cfg *Config) connections() int {
	each, counting := 0, 0
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
		each = len(used)
	}
	return len(cfg.Clients) * (each + counting)
}

// CheckSize returns an error if the world is too large before anything happens in it.
func (cfg *Config) CheckSize() error {
	if n := cfg.connections(); n > maxConnections {
		return fmt.Errorf("%d clients would open %d connections to nodes, but a world has room for %d; use fewer clients or fewer nodes",
			len(cfg.Clients), n, maxConnections)
	}
	return nil
}
