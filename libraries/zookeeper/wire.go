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

// A wire is a connection on which the order of what is written at one moment is not random.
// In go-zookeeper one goroutine sends the requests of all others, and the pings; it is
// random in which order it receives them, and whether a waiting ping or a waiting request
// goes first. Here messages are held until every goroutine waits, and are sent in the order
// of their words.
//
// Two requests that are equal except for their numbers have no order. go-zookeeper
// distinguishes their goroutines only by the numbers, so it is random whose request goes
// first. That takes two goroutines of one process that make the same request at the same
// moment, such as two attempts whose connection broke and which both look for their nodes.
// The run reports this.
//
// What has arrived is read one message at a time, each when all goroutines have done what
// the message before it led to. A process that was paused may find an event and, behind it,
// the end of the connection: otherwise it would be random whether the receiver of the event
// makes its next request before the end is read.
//
// A ping is sent by a timer, and the timers of a paused process must not fire before it
// resumes. go-zookeeper's own do, so its pings wait here until the process runs.
type wire struct {
	net.Conn
	turn  func(words ...string)
	woken func(ctx context.Context, words ...string)

	// header is what has been read of a message's length, and body how much of the message
	// is still to be read. Only the reading goroutine uses them.
	header []byte
	body   int

	mu     sync.Mutex
	frames [][]byte
	err    error
	closed bool
	wake   chan struct{}
	done   chan struct{} // closed with the connection
}

func newWire(c net.Conn, e *locks.Env) *wire {
	w := &wire{Conn: c, turn: e.WaitTurn, woken: e.WaitAfterTimer, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go w.send()
	return w
}

// Read reads the next bytes. At the beginning of a message it waits for its turn.
func (w *wire) Read(b []byte) (int, error) {
	if w.body == 0 && len(w.header) == 0 {
		w.turn("zookeeper-reads", w.RemoteAddr().String())
	}
	n, err := w.Conn.Read(b)
	for rest := b[:n]; len(rest) > 0; {
		if w.body > 0 {
			took := min(w.body, len(rest))
			w.body, rest = w.body-took, rest[took:]
			continue
		}
		w.header, rest = append(w.header, rest[0]), rest[1:]
		if len(w.header) == numberAt {
			w.body = int(binary.BigEndian.Uint32(w.header))
			w.header = w.header[:0]
		}
	}
	return n, err
}

// Write queues one message: go-zookeeper writes them one by one.
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
		w.frames = append(w.frames, bytes.Clone(b))
	}
	w.signal()
	return len(b), nil
}

// Close closes the connection when everything written has been sent.
func (w *wire) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.closed = true
		w.signal()
	}
	return nil
}

func (w *wire) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// send sends what was written, whenever it is the connection's turn.
func (w *wire) send() {
	defer close(w.done)
	for range w.wake {
		if w.onlyPings() {
			w.woken(context.Background(), "zookeeper-pings", w.RemoteAddr().String())
		}
		w.turn("zookeeper-asks", w.RemoteAddr().String())
		w.mu.Lock()
		frames, closed := w.frames, w.closed
		w.frames = nil
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

// reportTies reports requests that have no order to the world: for two equal requests, two
// goroutines ask for a turn with the same words at this moment.
func (w *wire) reportTies(frames [][]byte) {
	for i := range frames[1:] {
		if a, b := frames[i], frames[i+1]; compareMessages(a, b) == 0 {
			asked := string(messageWords(a))
			var both sync.WaitGroup
			for range 2 {
				both.Go(func() { w.turn("zookeeper-asks", w.RemoteAddr().String(), asked) })
			}
			both.Wait()
			return
		}
	}
}

// A message consists of its length, its number, its opcode, and the rest. The first message
// on a connection is sent alone.
const (
	numberAt = 4
	opAt     = 8
	restAt   = 12
)

const opPing, opAuth, opSetWatches = 11, 100, 101

func opcode(frame []byte) int {
	if len(frame) < restAt {
		return 0
	}
	return int(binary.BigEndian.Uint32(frame[opAt:]))
}

func isPing(frame []byte) bool { return len(frame) == restAt && opcode(frame) == opPing }

// isExtraPing reports whether a message is a ping while another ping is still queued: a
// paused process has had only one tick of its clock, not all of them.
func (w *wire) isExtraPing(b []byte) bool { return isPing(b) && slices.ContainsFunc(w.frames, isPing) }

func (w *wire) onlyPings() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.frames) > 0 && !slices.ContainsFunc(w.frames, func(f []byte) bool { return !isPing(f) })
}

// compareMessages orders messages: first the client's identity, then its watches, then
// pings, and then other requests, by their words.
func compareMessages(a, b []byte) int {
	return cmp.Or(cmp.Compare(rank(a), rank(b)), bytes.Compare(messageWords(a), messageWords(b)))
}

func rank(frame []byte) int {
	if i := slices.Index([]int{opAuth, opSetWatches, opPing}, opcode(frame)); i >= 0 {
		return i
	}
	return len("aswp")
}

var randomPrefix = lazy.Regexp(`_c_[0-9a-f]{32}-`)

// messageWords returns a message without its number and without the random words that the
// recipe writes.
func messageWords(frame []byte) []byte {
	return randomPrefix().ReplaceAll(frame[min(opAt, len(frame)):], []byte("_c_-"))
}
