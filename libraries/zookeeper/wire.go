package zookeeper

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"net"
	"slices"
	"sync"

	"github.com/locksim/locksim/internal/lazy"
	"github.com/locksim/locksim/locks"
)

// A wire is a connection to a server on which messages that are written at the same moment
// have the same order in every run.
//
// In go-zookeeper, one goroutine sends the requests of all others, and also the pings. The order in
// which it receives them is random. A wire holds messages back until every goroutine waits, and
// then sends them in the order of their words, the parts of a message that are equal in every run.
//
// Two requests may be equal except for their numbers, if two goroutines of a process make
// the same request at the same moment. An example is two attempts that have lost their
// connection and look for their nodes. Such requests have no order, so it is random whose
// request is sent first. The wire then makes the run inconclusive.
//
// A wire also lets go-zookeeper read only one message at a time, and waits until all
// goroutines have reacted to it. Otherwise runs could differ. For example, a process that
// was paused may find an event and, behind it, the end of the connection. Then it would be
// random whether the receiver of the event sends its next request before the end is read.
//
// A ping is sent by a timer of go-zookeeper, which fires even while the process is paused.
// Pings therefore wait here until the process runs.
type wire struct {
	net.Conn
	waitTurn         func(words ...string)                      // Env.WaitTurn
	waitUntilRunning func(ctx context.Context, words ...string) // Env.WaitAfterTimer

	// header is the part of a message's length that was read so far. bodyLeft is how many
	// bytes of the message are still to be read. Only the goroutine that reads uses them.
	header   []byte
	bodyLeft int

	mu     sync.Mutex
	queued [][]byte // messages that were written and not sent
	err    error    // of an earlier write
	closed bool
	wake   chan struct{} // makes send look for something to do
	done   chan struct{} // closed with the connection
}

// newWire makes a wire of a connection, and starts the goroutine that sends.
func newWire(c net.Conn, e *locks.Env) *wire {
	w := &wire{Conn: c, waitTurn: e.WaitTurn, waitUntilRunning: e.WaitAfterTimer, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go w.send()
	return w
}

// Read implements [net.Conn]. At the beginning of a message it waits for its turn.
func (w *wire) Read(b []byte) (int, error) {
	if w.bodyLeft == 0 && len(w.header) == 0 {
		w.waitTurn("zookeeper-reads", w.RemoteAddr().String())
	}
	n, err := w.Conn.Read(b)
	for rest := b[:n]; len(rest) > 0; {
		if w.bodyLeft > 0 {
			took := min(w.bodyLeft, len(rest))
			w.bodyLeft, rest = w.bodyLeft-took, rest[took:]
			continue
		}
		w.header, rest = append(w.header, rest[0]), rest[1:]
		if len(w.header) == numberAt {
			w.bodyLeft = int(binary.BigEndian.Uint32(w.header))
			w.header = w.header[:0]
		}
	}
	return n, err
}

// Write implements [net.Conn]. It queues one message; go-zookeeper writes each message with
// one call.
func (w *wire) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed:
		return 0, net.ErrClosed
	case w.err != nil:
		return 0, w.err
	}
	if !w.isExtraPing(b) {
		w.queued = append(w.queued, bytes.Clone(b))
	}
	w.signal()
	return len(b), nil
}

// Close implements [net.Conn]. The connection is closed when everything that was written
// has been sent.
func (w *wire) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.closed = true
		w.signal()
	}
	return nil
}

// signal wakes the goroutine that sends.
func (w *wire) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// send sends the queued messages, whenever it is this connection's turn, until the wire is
// closed.
func (w *wire) send() {
	defer close(w.done)
	for range w.wake {
		if w.hasOnlyPings() {
			w.waitUntilRunning(context.Background(), "zookeeper-pings", w.RemoteAddr().String())
		}
		w.waitTurn("zookeeper-asks", w.RemoteAddr().String())
		w.mu.Lock()
		frames, closed := w.queued, w.closed
		w.queued = nil
		w.mu.Unlock()
		if len(frames) > 0 {
			slices.SortStableFunc(frames, compareMessages)
			w.reportTies(frames)
			if _, err := w.Conn.Write(slices.Concat(frames...)); err != nil {
				w.mu.Lock()
				w.err = err
				w.mu.Unlock()
			}
		}
		if closed {
			_ = w.Conn.Close()
			return
		}
	}
}

// reportTies makes the run inconclusive if two of the messages have no order. It does so by
// letting two goroutines ask for a turn with the same words at the same moment, which the
// world reports.
func (w *wire) reportTies(frames [][]byte) {
	for i := range frames[1:] {
		if a, b := frames[i], frames[i+1]; compareMessages(a, b) == 0 {
			asked := string(messageWords(a))
			var both sync.WaitGroup
			for range 2 {
				both.Go(func() { w.waitTurn("zookeeper-asks", w.RemoteAddr().String(), asked) })
			}
			both.Wait()
			return
		}
	}
}

// A message consists of its length, its number, its opcode, and the rest. These are the
// offsets of the last three, in bytes. The first message of a connection has another
// format, but no other message is sent together with it.
const (
	numberAt = 4
	opAt     = 8
	restAt   = 12
)

// The opcodes that decide about the order of messages.
const opPing, opAuth, opSetWatches = 11, 100, 101

// opcode returns the opcode of a message, or 0 if the message is too short to have one.
func opcode(frame []byte) int {
	if len(frame) < restAt {
		return 0
	}
	return int(binary.BigEndian.Uint32(frame[opAt:]))
}

// isPing reports whether a message is a ping.
func isPing(frame []byte) bool { return len(frame) == restAt && opcode(frame) == opPing }

// isExtraPing reports whether a message is a ping while another ping is queued. It is then
// dropped: a real process that was paused would send only one ping when it resumes.
func (w *wire) isExtraPing(b []byte) bool { return isPing(b) && slices.ContainsFunc(w.queued, isPing) }

// hasOnlyPings reports whether only pings are queued.
func (w *wire) hasOnlyPings() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.queued) > 0 && !slices.ContainsFunc(w.queued, func(f []byte) bool { return !isPing(f) })
}

// compareMessages orders messages: first those that prove the client's identity, then those
// that set watches again, then pings, and then all others. Messages of one kind are ordered
// by their words.
func compareMessages(a, b []byte) int {
	return cmp.Or(cmp.Compare(rank(a), rank(b)), bytes.Compare(messageWords(a), messageWords(b)))
}

// rank returns a message's place in the order of kinds.
func rank(frame []byte) int {
	if i := slices.Index([]int{opAuth, opSetWatches, opPing}, opcode(frame)); i >= 0 {
		return i
	}
	return 3 // after the three kinds above
}

// randomPrefix matches the random words that go-zookeeper's lock puts before the names of
// its nodes.
var randomPrefix = lazy.Regexp(`_c_[0-9a-f]{32}-`)

// messageWords returns the part of a message that is equal in every run: without its number
// and without random words.
func messageWords(frame []byte) []byte {
	return randomPrefix().ReplaceAll(frame[min(opAt, len(frame)):], []byte("_c_-"))
}
