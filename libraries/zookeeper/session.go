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

// A Session is a process's connection to ZooKeeper, which all of its handles share. When the
// server ends the session go-zookeeper begins another one by itself, on the same Conn.
type Session struct {
	Conn *zk.Conn

	handles atomic.Int32
	over    atomic.Bool
	wait    func()

	mu sync.Mutex
	// ended has for each session a channel that is closed when the process is told that
	// it has ended.
	ended map[int64]chan struct{}
	// linked says that there is a connection, and cut is closed when it is lost.
	linked bool
	cut    chan struct{}
	has    chan struct{} // closed when there is a session for the first time
	begun  bool
	wires  []*wire
}

// buffer is how long messages can be, in bytes, in place of one and a half megabytes: worlds
// are many and short.
const buffer = 64 << 10

// Open is the process's session, always the same one: for anybody who tests a lock on
// ZooKeeper. It is to be asked for when a lock is made. The session has a timeout of Env.TTL,
// which the server raises to two of its ticks and lowers to twenty, and there is one before
// the story begins.
//
// It is as go-zookeeper makes it, but for this:
//
//   - It looks no names up, and does not shuffle the servers: the client whose name ends in 2
//     begins with the second, and so on. So clients are spread over the servers, each in equal
//     runs over the same.
//   - Buffers of 64 KiB.
//   - It logs nothing.
//   - In a world what its goroutines send at one moment goes out in one order; see wire.
func Open(e *locks.Env) (*Session, error) { return openAt(e, "zookeeper", number(e.Client)) }

// openAt is the process's session of some name, which begins with the server of some number,
// counted from 1 and round.
func openAt(e *locks.Env, name string, first int) (*Session, error) {
	var failed error
	s := locks.Share(e, name, func() *Session {
		s := &Session{ended: map[int64]chan struct{}{}, has: make(chan struct{})}
		s.wait = func() { _ = e.Clock.Sleep(e.Lifetime(), time.Second) }
		s.Conn, _, failed = zk.Connect(e.Nodes, e.TTL,
			zk.WithDialer(s.dialer(e)),
			zk.WithHostProvider(&hosts{addrs: spread(e.Nodes, first), next: -1, last: -1}),
			zk.WithMaxBufferSize(buffer),
			zk.WithMaxConnBufferSize(buffer),
			zk.WithLogger(silent{}), zk.WithLogInfo(false),
			zk.WithEventCallback(s.heard),
		)
		if failed == nil {
			e.Cleanup(s.close)
			e.Warm(s.warm)
		}
		return s
	})
	return s, failed
}

// warm waits for the first session.
func (s *Session) warm(ctx context.Context) {
	select {
	case <-s.has:
	case <-ctx.Done():
	}
}

// heard is what go-zookeeper tells of its connection. Conn is not there yet when it tells of
// the first attempt.
func (s *Session) heard(ev zk.Event) {
	switch ev.State {
	case zk.StateHasSession:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.linked = true
		if !s.begun {
			s.begun = true
			close(s.has)
		}
	case zk.StateDisconnected:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.linked = false
		if s.cut != nil {
			close(s.cut)
			s.cut = nil
		}
	case zk.StateExpired:
		s.mu.Lock()
		defer s.mu.Unlock()
		// There is one session at a time, and it is over.
		for id, ended := range s.ended {
			close(ended)
			delete(s.ended, id)
		}
	}
}

// lost is closed when the process is told that a session has ended.
func (s *Session) lost(id int64) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended[id] == nil {
		s.ended[id] = make(chan struct{})
	}
	return s.ended[id]
}

// disconnected is closed when the connection is lost: if there is none, at once.
func (s *Session) disconnected() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.linked {
		cut := make(chan struct{})
		close(cut)
		return cut
	}
	if s.cut == nil {
		s.cut = make(chan struct{})
	}
	return s.cut
}

// word is how a server calls a session.
func word(id int64) string { return strconv.FormatUint(uint64(id), 16) }

// insist asks until there is an answer by which one knows, or the session is over.
// go-zookeeper lets each try wait for a connection; a server that is in no state to answer
// is asked again after a while.
func (s *Session) insist(ask func() error) error {
	for {
		err := ask()
		switch {
		case err == nil, s.over.Load(), slices.ContainsFunc(final, func(e error) bool { return errors.Is(err, e) }):
			return err
		case !errors.Is(err, zk.ErrConnectionClosed) && !errors.Is(err, zk.ErrNoServer):
			s.wait()
		}
	}
}

// final are errors that do not pass.
var final = []error{
	locks.ErrLost, zk.ErrNoNode, zk.ErrSessionExpired, zk.ErrSessionMoved, zk.ErrClosing,
	zk.ErrNoAuth, zk.ErrAuthFailed, zk.ErrBadVersion, zk.ErrInvalidPath,
}

// close ends the session, and closes what go-zookeeper leaves open: the connection on which
// it was told that a session has expired.
func (s *Session) close() {
	s.over.Store(true)
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
		if err != nil || e.Turn == nil {
			return conn, err
		}
		w := newWire(conn, e)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.wires = append(s.wires, w)
		return w, nil
	}
}

// hosts are the servers, in an order that does not change: [zk.HostProvider].
type hosts struct {
	mu         sync.Mutex
	addrs      []string
	next, last int
}

func (h *hosts) Init([]string) error { return nil }
func (h *hosts) Len() int            { return len(h.addrs) }

// Next is the next server, and whether all were tried since a connection was made, as
// go-zookeeper's own [zk.DNSHostProvider] says it.
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

// number is that at the end of a name, or 1.
func number(client string) int {
	digits := client[len(strings.TrimRight(client, "0123456789")):]
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 {
		n = 1
	}
	return n
}

// spread is the order in which a client tries the servers that begins with one of them.
func spread(addrs []string, first int) []string {
	i := (first - 1) % len(addrs)
	return append(append([]string{}, addrs[i:]...), addrs[:i]...)
}

type silent struct{}

func (silent) Printf(string, ...any) {}
