package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/locksim/locksim/trace"
)

var (
	errRefused = &kernelError{"connection refused", syscall.ECONNREFUSED}
	errReset   = &kernelError{"connection reset by peer", syscall.ECONNRESET}
	errPipe    = &kernelError{"broken pipe", syscall.EPIPE}
)

// kernelError is an error of the simulated operating system. Its text is the same on every
// operating system on which locksim runs, because it may appear in the trace.
type kernelError struct {
	text  string
	errno syscall.Errno
}

func (e *kernelError) Error() string        { return e.text }
func (e *kernelError) Is(target error) bool { return target == e.errno }

// A socket is the [net.Conn] that a client's code gets: the client's end of a connection to
// a node. A write appends to the outbox, which the loop empties when every goroutine waits.
// A read takes bytes from the inbox, which the loop fills.
//
// While its process is paused, every call waits before it has an effect, and no deadline
// ends a read.
type socket struct {
	w    *World
	p    *process
	peer *process
	conn *conn
	// framer cuts the written bytes into messages; only the loop uses it.
	framer    Framer
	callFlush func() // flush, as the function of all requests to empty the outbox

	// ioAfterEnd counts the reads and writes after the end of the world; see delayAfterEnd.
	ioAfterEnd atomic.Int64

	// w.ioMutex guards all fields below.
	changed         *sync.Cond
	inbox           []byte
	outbox          []byte
	readers         int  // goroutines that wait for bytes
	flushPosted     bool // the loop has a request to empty the outbox
	closed          bool
	eof             bool
	reset           bool
	wasWritten      bool      // something was written
	wasChecked      bool      // the client has checked the connection; see peekConn
	deadline        time.Time // the deadline of reads
	deadlineExpired bool
	checkDue        time.Time // time of the next check of the deadline; zero if none is scheduled. During a suspension moveDeadline sets it to prevent checks.
}

// dial opens a connection from a process to the node with an address. It replaces
// [net.Dialer.DialContext] in the client's code.
func (p *process) dial(ctx context.Context, _, addr string) (net.Conn, error) {
	w := p.w
	w.ioMutex.Lock()
	peer, ok := w.byAddr[addr]
	w.ioMutex.Unlock()
	if !ok {
		if w.ctx.Err() != nil {
			w.delayAfterEnd(&p.ioAfterEnd, 10_000)
		}
		time.Sleep(time.Millisecond) // even a failed look-up takes time, so a client that retries in a loop cannot stop virtual time
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: fmt.Errorf("no node of this world has the address %s", addr)}
	}
	s := &socket{w: w, p: p, peer: peer, changed: sync.NewCond(&w.ioMutex)}
	s.callFlush = s.flush
	opened := make(chan error, 1)
	w.ioMutex.Lock()
	p.recordRanWhilePaused()
	round := w.round
	w.postLocked(&request{
		process: p, class: classDial, rank: peer.index,
		admit: func() {
			if ctx.Err() != nil {
				w.afterMoment(func() { opened <- ctx.Err() })
				return
			}
			// A promotion may have moved the address.
			s.peer = w.byAddr[addr]
			w.sockets = append(w.sockets, s)
			s.conn = w.connect(p, s.peer, s, func(_ *conn, err error) {
				w.afterMoment(func() { opened <- err })
			})
		},
		abandon: func() { opened <- errEnded },
	})
	w.ioMutex.Unlock()

	var err error
	select {
	case err = <-opened:
	case <-ctx.Done():
		select {
		case err = <-opened: // the dial has ended and so has ctx; the result must not depend on chance, so the dial's result counts
		default:
			err = context.Cause(ctx)
			s.giveUp(peer.index)
		}
	case <-w.ctx.Done():
		err = errEnded
	}
	if w.awaitRunning(p, request{class: classResult, rank: peer.index, subRank: s.number(), round: round}) {
		w.delayAfterEnd(&p.ioAfterEnd, 10_000)
		err = errEnded
	}
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Addr: tcpAddr(peer.name), Err: err}
	}
	return s, nil
}

// giveUp closes a connection that is still being opened, because the caller of dial no longer
// waits. rank is the index of the node's process.
func (s *socket) giveUp(rank int) {
	s.w.post(&request{process: s.p, class: classClose, rank: rank, admit: func() {
		if s.conn != nil {
			s.w.emit(trace.Event{Kind: trace.KindRefuse, Process: s.p.name, Peer: s.peer.name, Text: "no answer before the caller's deadline"})
			s.conn.close()
		}
	}})
}

// recordRanWhilePaused records that a process starts I/O although it is paused, once for
// each pause. The caller has locked w.ioMutex.
func (p *process) recordRanWhilePaused() {
	if p.state == paused && !p.ranWhilePaused {
		p.ranWhilePaused = true
		p.w.requests = append(p.w.requests, &request{process: p, class: classTimer, admit: func() {
			p.w.emit(trace.Event{Kind: trace.KindRanOn, Process: p.name, Text: "a timer of its library fired while the process was paused"})
		}})
		p.w.wakeLoop()
	}
}

// delayAfterEnd is called for each read, dial, sleep and call of the storage after the end of the
// world. It takes virtual time, so that other goroutines can end. A goroutine may retry without
// end. So delayAfterEnd ends that goroutine after limit calls: 1,000 on one socket, or 10,000
// dials, sleeps and calls of one process. calls is the counter.
func (w *World) delayAfterEnd(calls *atomic.Int64, limit int64) {
	limitAfterEnd(calls, limit)
	time.Sleep(time.Millisecond)
}

// limitAfterEnd is delayAfterEnd, but takes no virtual time.
func limitAfterEnd(calls *atomic.Int64, limit int64) {
	if calls.Add(1) > limit {
		runtime.Goexit()
	}
}

func (s *socket) Read(b []byte) (int, error) {
	s.w.disturb()
	n, err := s.read(b)
	s.w.disturb()
	if err == errEnded {
		s.w.delayAfterEnd(&s.ioAfterEnd, 1_000)
	}
	if err != nil && err != io.EOF {
		err = &net.OpError{Op: "read", Net: "tcp", Addr: tcpAddr(s.peer.name), Err: err}
	}
	return n, err
}

// read returns bytes from the inbox, and waits until there are some, the connection has
// ended or the deadline has passed.
func (s *socket) read(b []byte) (int, error) {
	s.w.ioMutex.Lock()
	defer s.w.ioMutex.Unlock()
	for {
		s.p.awaitRunningLocked(request{class: classResult, rank: s.peer.index, subRank: s.number()})
		switch {
		case s.w.ended:
			return 0, errEnded
		case s.closed:
			return 0, net.ErrClosed
		case len(b) == 0:
			return 0, nil
		case len(s.inbox) > 0:
			n := copy(b, s.inbox)
			s.inbox = s.inbox[n:]
			s.w.watchdog.steps.Add(1)
			return n, nil
		case s.reset:
			return 0, errReset
		case s.eof:
			return 0, io.EOF
		case s.deadlineExpired:
			return 0, os.ErrDeadlineExceeded
		}
		s.scheduleDeadlineCheck()
		s.readers++
		s.changed.Wait()
		s.readers--
	}
}

// scheduleDeadlineCheck makes the loop check the deadline of reads when the deadline passes. If a
// check is scheduled for an earlier time, scheduleDeadlineCheck does nothing: that check will see
// the new deadline and schedule the next check. So a client that moves its deadline with every
// command causes few checks.
func (s *socket) scheduleDeadlineCheck() {
	if s.deadline.IsZero() || !s.checkDue.IsZero() && !s.checkDue.After(s.deadline) {
		return
	}
	due := s.deadline
	s.checkDue = due
	s.w.postLocked(&request{
		process: s.p, class: classTimer, rank: s.peer.index, subRank: s.number(),
		admit: func() { s.w.schedule(due.Sub(s.w.runStart), func() { s.checkDeadline(due) }) },
	})
}

// number returns the number of the socket's connection; 0 before the loop has created it.
func (s *socket) number() int {
	if s.conn == nil {
		return 0
	}
	return s.conn.number
}

// checkDeadline ends the reads if their deadline has passed. The loop calls it at the
// scheduled time; a check that was replaced meanwhile does nothing.
func (s *socket) checkDeadline(armed time.Time) {
	s.w.ioMutex.Lock()
	defer s.w.ioMutex.Unlock()
	if !s.checkDue.Equal(armed) {
		return
	}
	s.checkDue = time.Time{}
	switch {
	case s.p.state != running || s.closed || s.deadline.IsZero() || s.readers == 0:
	case s.deadline.After(time.Now()):
		s.scheduleDeadlineCheck()
	case !s.deadlineExpired:
		s.deadlineExpired = true
		if len(s.inbox) == 0 && !s.eof && !s.reset {
			s.w.emit(trace.Event{Kind: trace.KindTimeout, Process: s.p.name, Peer: s.peer.name, Conn: s.number()})
		}
		s.changed.Broadcast()
	}
}

// moveDeadline adds the time for which the machine was suspended to the deadline. It
// schedules no check; [socket.rescheduleDeadlineCheck] does that later.
func (s *socket) moveDeadline(suspendedFor time.Duration) {
	s.w.ioMutex.Lock()
	defer s.w.ioMutex.Unlock()
	if !s.deadline.IsZero() {
		s.deadline = s.deadline.Add(suspendedFor)
	}
	s.checkDue = s.deadline
}

// rescheduleDeadlineCheck schedules the check of the deadline after a pause. It is called
// when the stalled goroutines have continued, so that they can first read the bytes that
// have arrived.
func (s *socket) rescheduleDeadlineCheck() {
	s.w.ioMutex.Lock()
	defer s.w.ioMutex.Unlock()
	s.checkDue = time.Time{}
	if !s.closed {
		s.scheduleDeadlineCheck()
	}
}

func (s *socket) Write(b []byte) (int, error) {
	s.w.disturb()
	n, err := s.write(b)
	s.w.disturb()
	if err == errEnded {
		// A write takes no time even after the end of the world: the library rueidis spins
		// without waiting until a write fails.
		limitAfterEnd(&s.ioAfterEnd, 1_000)
	}
	if err != nil {
		err = &net.OpError{Op: "write", Net: "tcp", Addr: tcpAddr(s.peer.name), Err: err}
	}
	return n, err
}

// write appends to the outbox, and posts a request to flush it if none is posted.
func (s *socket) write(b []byte) (int, error) {
	s.w.ioMutex.Lock()
	defer s.w.ioMutex.Unlock()
	s.p.recordRanWhilePaused()
	round := s.w.round
	s.p.awaitRunningLocked(request{class: classWrite, rank: s.peer.index, subRank: s.number()})
	if s.wasWritten && !s.wasChecked && s.isStale() {
		if system := s.peer.host().system.Name; !slices.Contains(s.w.uncheckedReuse, system) {
			s.w.uncheckedReuse = append(s.w.uncheckedReuse, system)
		}
	}
	s.wasWritten = true
	switch {
	case s.w.ended:
		return 0, errEnded
	case s.closed:
		return 0, net.ErrClosed
	case s.reset:
		return 0, errPipe
	}
	if !s.w.reserve(len(b)) {
		return 0, errEnded
	}
	s.outbox = append(s.outbox, b...)
	if !s.flushPosted {
		s.flushPosted = true
		s.w.postLocked(&request{process: s.p, class: classWrite, rank: s.peer.index, subRank: s.number(), round: round, admit: s.callFlush})
	}
	return len(b), nil
}

// flush sends what the goroutines have written, cut into messages.
func (s *socket) flush() {
	s.w.ioMutex.Lock()
	s.flushPosted = false
	out := s.outbox
	s.outbox = nil
	s.w.ioMutex.Unlock()
	if s.framer == nil {
		s.framer = s.peer.host().system.Framer(s.w.names)
	}
	for len(out) > 0 {
		size, f := s.framer.Next(out)
		if size == 0 {
			s.w.ioMutex.Lock()
			s.outbox = append(out, s.outbox...)
			s.w.ioMutex.Unlock()
			return
		}
		s.w.unreserve(size) // from now on these bytes are charged as part of a message
		s.conn.sendRequest(&message{bytes: out[:size:size], body: f.Body, text: f.Text, origin: s.p.currentOrigin(f)})
		out = out[size:]
	}
}

// currentOrigin returns the origin of a message that the process sends now.
func (p *process) currentOrigin(f Frame) origin {
	o := origin{client: p.name, handshake: f.Handshake, keepAlive: f.KeepAlive}
	if p.actor != nil {
		o.section, o.step = p.actor.doing()
	}
	if f.KeepAlive {
		o.step = ""
	}
	return o
}

// Close closes the socket. Bytes that were written before are still sent.
func (s *socket) Close() error {
	s.w.ioMutex.Lock()
	defer s.w.ioMutex.Unlock()
	if s.closed {
		return nil
	}
	s.p.recordRanWhilePaused()
	s.closed = true
	s.changed.Broadcast()
	s.w.postLocked(&request{process: s.p, class: classClose, rank: s.peer.index, subRank: s.number(), admit: func() { s.conn.close() }})
	return nil
}

// receive implements endpoint: it puts the bytes of a message into the inbox, and wakes the
// readers.
func (s *socket) receive(m *message) {
	s.w.afterMoment(func() {
		s.w.ioMutex.Lock()
		s.inbox = append(s.inbox, m.bytes...)
		s.w.ioMutex.Unlock()
		s.changed.Broadcast()
	})
}

// hangUp implements endpoint: reads return what is in the inbox, and then an error.
func (s *socket) hangUp(reset bool) {
	s.w.afterMoment(func() {
		s.w.ioMutex.Lock()
		s.eof = true
		s.reset = s.reset || reset
		s.w.ioMutex.Unlock()
		s.changed.Broadcast()
	})
}

// SetReadDeadline sets the deadline of reads. A deadline in the past ends them immediately;
// the zero Time means none.
func (s *socket) SetReadDeadline(t time.Time) error {
	s.w.ioMutex.Lock()
	defer s.w.ioMutex.Unlock()
	s.deadline = t
	s.deadlineExpired = !t.IsZero() && !t.After(time.Now())
	s.changed.Broadcast()
	return nil
}

// SetDeadline only sets the deadline of reads, because a write never waits.
func (s *socket) SetDeadline(t time.Time) error { return s.SetReadDeadline(t) }

// SetWriteDeadline does nothing, because a write never waits.
func (s *socket) SetWriteDeadline(time.Time) error { return nil }

func (s *socket) LocalAddr() net.Addr  { return tcpAddr("10.1.0." + fmt.Sprint(s.p.index+1) + ":40000") }
func (s *socket) RemoteAddr() net.Addr { return tcpAddr(s.peer.addr) }

// tcpAddr is a [net.Addr] of the simulated network.
type tcpAddr string

func (tcpAddr) Network() string  { return "tcp" }
func (a tcpAddr) String() string { return string(a) }

// SyscallConn lets a client check whether an idle connection has ended, before it uses the
// connection again. Real clients call Read of the RawConn with a function that peeks at the
// file descriptor. Here there is no file descriptor, so Read itself returns the error that
// the peek would have found.
func (s *socket) SyscallConn() (syscall.RawConn, error) { return peekConn{s}, nil }

// peekConn is the [syscall.RawConn] of a socket, which has only the check that SyscallConn
// describes.
type peekConn struct{ s *socket }

// errPeek is the error of a check of an idle connection if the client must not use the
// connection again.
var errPeek = errors.New("the connection is closed, or has bytes that answer no request")

// Read checks whether the connection has ended or has bytes that answer no request. It does
// not call the function.
func (p peekConn) Read(func(fd uintptr) bool) error {
	p.s.w.ioMutex.Lock()
	defer p.s.w.ioMutex.Unlock()
	p.s.wasChecked = true
	if p.s.isStale() {
		return errPeek
	}
	return nil
}

// isStale reports whether the connection has ended or has bytes that answer no request. A client
// that checks such a connection does not use it again. The caller has locked w.ioMutex.
func (s *socket) isStale() bool { return s.closed || s.eof || s.reset || len(s.inbox) > 0 }

// Write and Control always fail: no client needs them here.
func (p peekConn) Write(func(fd uintptr) bool) error { return errPeek }
func (p peekConn) Control(func(fd uintptr)) error    { return errPeek }
