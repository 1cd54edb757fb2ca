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

// A Session is a process's connection to ZooKeeper, which all handles of the process share.
// If the server ends the session, go-zookeeper opens a new one on the same Conn.
type Session struct {
	Conn *zk.Conn

	handles atomic.Int32 // how many handles use it
	closed  atomic.Bool
	pause   func() // sleeps for a second by the process's clock

	mu sync.Mutex
	// endSignals has a channel for each session, by ID. The channel is closed when the
	// process learns that the session has ended.
	endSignals map[int64]chan struct{}
	// isConnected reports whether there is a connection with a session. disconnect is
	// closed when the connection is lost; it is nil if nobody has asked for it.
	isConnected  bool
	disconnect   chan struct{}
	firstSession chan struct{} // closed when the process has a session for the first time
	hadSession   bool
	wires        []*wire
}

// buffer is the maximum size of a message, in bytes. go-zookeeper's default is 1.5
// megabytes, which is too much for worlds, because they are many and short.
const buffer = 64 << 10

// Open returns the session of the process; every call returns the same one. Use it for a
// lock of your own on ZooKeeper, and call it when the lock is made. The timeout of the
// session is Env.TTL, but at least two and at most twenty ticks of the server. The session
// is opened before the run begins.
//
// It is a connection of go-zookeeper, with these differences:
//
//   - It does not resolve names, and does not shuffle the servers. A client whose name ends
//     in 2 begins with the second server, and so on. So clients are spread over the servers
//     in the same way in equal runs.
//   - Buffers have 64 KiB.
//   - It logs nothing.
//   - In a world, which is a simulation, messages that its goroutines send at the same moment
//     have a fixed order; see wire.
func Open(e *locks.Env) (*Session, error) { return openAt(e, "zookeeper", trailingNumber(e.Client)) }

// openAt returns the process's session with this name. It connects first to the server
// whose number is first, counted from 1; higher numbers begin again at the first server.
func openAt(e *locks.Env, name string, first int) (*Session, error) {
	var connectErr error
	s := locks.Share(e, name, func() *Session {
		s := &Session{endSignals: map[int64]chan struct{}{}, firstSession: make(chan struct{})}
		s.pause = func() { _ = e.Clock.Sleep(e.Lifetime(), time.Second) }
		s.Conn, _, connectErr = zk.Connect(e.Nodes, e.TTL,
			zk.WithDialer(s.dialer(e)),
			zk.WithHostProvider(&hosts{addrs: rotate(e.Nodes, first), next: -1, last: -1}),
			zk.WithMaxBufferSize(buffer),
			zk.WithMaxConnBufferSize(buffer),
			zk.WithLogger(silentLogger{}), zk.WithLogInfo(false),
			zk.WithEventCallback(s.handleEvent),
		)
		if connectErr == nil {
			e.Cleanup(s.close)
			e.OnWarmUp(s.waitForSession)
		}
		return s
	})
	return s, connectErr
}

// waitForSession waits until the process has a session, or ctx ends.
func (s *Session) waitForSession(ctx context.Context) {
	select {
	case <-s.firstSession:
	case <-ctx.Done():
	}
}

// handleEvent handles the events of go-zookeeper about its connection. It must not use
// Conn, which is not set yet when the first event arrives.
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
		for id, ended := range s.endSignals {
			close(ended)
			delete(s.endSignals, id)
		}
	}
}

// sessionEnd returns a channel that is closed when the process learns that the session with
// this ID has ended.
func (s *Session) sessionEnd(id int64) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.endSignals[id] == nil {
		s.endSignals[id] = make(chan struct{})
	}
	return s.endSignals[id]
}

// connectionEnd returns a channel that is closed when the connection is lost. If there is
// no connection now, the channel is already closed.
func (s *Session) connectionEnd() <-chan struct{} {
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

// formatSession returns the ID of a session in hexadecimal, as the server does.
func formatSession(id int64) string { return strconv.FormatUint(uint64(id), 16) }

// repeatUntilAnswered repeats a request until it succeeds, fails with an error that will
// not go away, or the session is closed. Each try first waits for a connection, inside
// go-zookeeper. After an error from a server, repeatUntilAnswered pauses before it tries
// again.
func (s *Session) repeatUntilAnswered(ask func() error) error {
	for {
		err := ask()
		switch {
		case err == nil, s.closed.Load(), slices.ContainsFunc(finalErrors, func(e error) bool { return errors.Is(err, e) }):
			return err
		case !errors.Is(err, zk.ErrConnectionClosed) && !errors.Is(err, zk.ErrNoServer):
			s.pause()
		}
	}
}

// finalErrors are the errors after which a further try would fail too.
var finalErrors = []error{
	locks.ErrLost, zk.ErrNoNode, zk.ErrSessionExpired, zk.ErrSessionMoved, zk.ErrClosing,
	zk.ErrNoAuth, zk.ErrAuthFailed, zk.ErrBadVersion, zk.ErrInvalidPath,
}

// close ends the session. It also closes connections that go-zookeeper leaves open, such as
// the one on which it has learned that a session had expired.
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

// dialer returns the function by which go-zookeeper connects to a server. In a world, the
// connection is a wire.
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

// hosts are the servers in the order in which a client tries them. It implements
// [zk.HostProvider]. next is the index of the current server, and last that of the server
// at the last connection; -1 means none.
type hosts struct {
	mu         sync.Mutex
	addrs      []string
	next, last int
}

// Init implements [zk.HostProvider]; the servers are already known.
func (h *hosts) Init([]string) error { return nil }

// Len implements [zk.HostProvider].
func (h *hosts) Len() int { return len(h.addrs) }

// Next implements [zk.HostProvider]. It returns the next server, and whether all servers
// were tried since the last connection, as [zk.DNSHostProvider] does.
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

// Connected implements [zk.HostProvider].
func (h *hosts) Connected() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = h.next
}

// trailingNumber returns the number at the end of a client's name, or 1 if there is none.
func trailingNumber(client string) int {
	digits := client[len(strings.TrimRight(client, "0123456789")):]
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 {
		n = 1
	}
	return n
}

// rotate returns the servers in the order in which a client tries them. It begins with the
// server whose number is first.
func rotate(addrs []string, first int) []string {
	i := (first - 1) % len(addrs)
	return append(append([]string{}, addrs[i:]...), addrs[:i]...)
}

// A silentLogger drops what go-zookeeper logs.
type silentLogger struct{}

func (silentLogger) Printf(string, ...any) {}
