package zookeeper

import (
	"context"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/locksim/locksim/locks"
)

// A Session is a process's connection to ZooKeeper, which all of its handles share. When
// the server ends the session, go-zookeeper opens a new one by itself, on the same Conn.
type Session struct {
	Conn *zk.Conn

	handles atomic.Int32
	closed  atomic.Bool
	wait    func()

	mu sync.Mutex
	// ended has, for each session, a channel that is closed when the process learns that
	// the session has ended.
	ended map[int64]chan struct{}
	// isConnected reports whether there is a connection; disconnect is closed when it is
	// lost.
	isConnected  bool
	disconnect   chan struct{}
	firstSession chan struct{} // closed when there is a session for the first time
	hadSession   bool
	wires        []*wire
}

// buffer is the maximum size of messages in bytes, in place of 1.5 megabytes, because
// worlds are many and short.
const buffer = 64 << 10

// Open returns the process's session, which is always the same one. Use it for your own
// lock on ZooKeeper, and call it when the lock is made. The session's timeout is Env.TTL,
// which the server raises to at least two of its ticks and lowers to at most twenty. The
// session exists before the run begins.
//
// It is as go-zookeeper makes it, except for this:
//
//   - It resolves no names, and does not shuffle the servers: the client whose name ends in 2
//     begins with the second, and so on. So clients are spread over the servers in the same
//     way in equal runs.
//   - Buffers have 64 KiB.
//   - It logs nothing.
//   - In a world, what its goroutines send at one moment goes out in a fixed order; see wire.
func Open(e *locks.Env) (*Session, error) { return openAt(e, "zookeeper", trailingNumber(e.Client)) }

// openAt returns the process's session with this name. It connects first to the server with
// the number first, counted from 1 and modulo the number of servers.
func openAt(e *locks.Env, name string, first int) (*Session, error) {
	var failed error
	s := locks.Share(e, name, func() *Session {
		s := &Session{ended: map[int64]chan struct{}{}, firstSession: make(chan struct{})}
		s.wait = func() { _ = e.Clock.Sleep(e.Lifetime(), time.Second) }
		s.Conn, _, failed = zk.Connect(e.Nodes, e.TTL,
			zk.WithDialer(s.dialer(e)),
			zk.WithHostProvider(&hosts{addrs: rotate(e.Nodes, first), next: -1, last: -1}),
			zk.WithMaxBufferSize(buffer),
			zk.WithMaxConnBufferSize(buffer),
			zk.WithLogger(silentLogger{}), zk.WithLogInfo(false),
			zk.WithEventCallback(s.handleEvent),
		)
		if failed == nil {
			e.Cleanup(s.close)
			e.OnWarmUp(s.warm)
		}
		return s
	})
	return s, failed
}

// warm waits for the first session, or until ctx ends.
func (s *Session) warm(ctx context.Context) {
	select {
	case <-s.firstSession:
	case <-ctx.Done():
	}
}

// handleEvent handles go-zookeeper's events about its connection. Conn is not set yet at
// the first one.
func (s *Session) handleEvent(ev zk.Event) {
	switch ev.State {
	case zk.StateHasSession:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.isConnected = true
		if !s.hadSession {
			s.hadSession = true
			close(s.firstSession)
		}
	case zk.StateDisconnected:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.isConnected = false
		if s.disconnect != nil {
			close(s.disconnect)
			s.disconnect = nil
		}
	case zk.StateExpired:
		s.mu.Lock()
		defer s.mu.Unlock()
		// There is only one session at a time, and it has ended.
		for id, ended := range s.ended {
			close(ended)
			delete(s.ended, id)
		}
	}
}

// lost returns a channel that is closed when the process learns that the session has ended.
func (s *Session) lost(id int64) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended[id] == nil {
		s.ended[id] = make(chan struct{})
	}
	return s.ended[id]
}

// disconnected returns a channel that is closed when the connection is lost; it is already
// closed if there is none.
func (s *Session) disconnected() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.isConnected {
		closed := make(chan struct{})
		close(closed)
		return closed
	}
	if s.disconnect == nil {
		s.disconnect = make(chan struct{})
	}
	return s.disconnect
}

// sessionWord returns the server's name for a session.
func sessionWord(id int64) string { return strconv.FormatUint(uint64(id), 16) }

// insist repeats a request until the answer is conclusive or the session has been closed.
// go-zookeeper lets each try wait for a connection; after an error of the server the next
// try comes after a pause.
func (s *Session) insist(ask func() error) error {
	for {
		err := ask()
		switch {
		case err == nil, s.closed.Load(), slices.ContainsFunc(finalErrors, func(e error) bool { return errors.Is(err, e) }):
			return err
		case !errors.Is(err, zk.ErrConnectionClosed) && !errors.Is(err, zk.ErrNoServer):
			s.wait()
		}
	}
}

// finalErrors are errors that do not go away.
var finalErrors = []error{
	locks.ErrLost, zk.ErrNoNode, zk.ErrSessionExpired, zk.ErrSessionMoved, zk.ErrClosing,
	zk.ErrNoAuth, zk.ErrAuthFailed, zk.ErrBadVersion, zk.ErrInvalidPath,
}

// close ends the session, and closes what go-zookeeper leaves open: the connection on which
// it learned that a session had expired.
func (s *Session) close() {
	s.closed.Store(true)
	s.Conn.Close()
	s.mu.Lock()
	wires := s.wires
	s.mu.Unlock()
	for _, w := range wires {
		_ = w.Close()
		<-w.done
	}
}

func (s *Session) dialer(e *locks.Env) zk.Dialer {
	life := e.Lifetime()
	return func(network, addr string, timeout time.Duration) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(life, timeout)
		defer cancel()
		conn, err := e.Dial(ctx, network, addr)
		if err != nil || e.WaitTurn == nil {
			return conn, err
		}
		w := newWire(conn, e)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.wires = append(s.wires, w)
		return w, nil
	}
}

// hosts are the servers in a fixed order; it implements [zk.HostProvider].
type hosts struct {
	mu         sync.Mutex
	addrs      []string
	next, last int
}

func (h *hosts) Init([]string) error { return nil }
func (h *hosts) Len() int            { return len(h.addrs) }

// Next returns the next server, and whether all have been tried since the last connection,
// as go-zookeeper's own [zk.DNSHostProvider] does.
func (h *hosts) Next() (server string, retryStart bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.next = (h.next + 1) % len(h.addrs)
	retryStart = h.next == h.last
	if h.last == -1 {
		h.last = 0
	}
	return h.addrs[h.next], retryStart
}

func (h *hosts) Connected() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = h.next
}

// trailingNumber returns the number at the end of a name, or 1.
func trailingNumber(client string) int {
	digits := client[len(strings.TrimRight(client, "0123456789")):]
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 {
		n = 1
	}
	return n
}

// rotate returns the order in which a client tries the servers, beginning with the one with
// the number first.
func rotate(addrs []string, first int) []string {
	i := (first - 1) % len(addrs)
	return append(append([]string{}, addrs[i:]...), addrs[:i]...)
}

type silentLogger struct{}

func (silentLogger) Printf(string, ...any) {}
