package locks

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"time"

	"github.com/locksim/locksim/fakeclock"
)

// Env is what a lock gets from the process that it runs in. For a lock on Redis, functions such as
// [RedisClient] make a client of it. A client of any other system can be built with its fields and
// methods.
type Env struct {
	// Key is the name of the lock, and the key that it is stored under.
	Key string
	// Client is the name of the process, which is unique in the world. It is the identity
	// for locks whose grants name their holder. One name can be the prefix of another:
	// worker-1 is a prefix of worker-10.
	Client string
	// TTL is how long a grant lasts; it is positive.
	TTL time.Duration
	// Nodes are the addresses of the nodes that store the lock, as IP:port. There may be
	// none if the kind is Open, because such a lock has no server.
	Nodes []string
	// Counters are the addresses of the nodes that count fencing tokens, as IP:port.
	Counters []string
	// Dial opens a connection to a node. Any client can be built on it. A constructor may
	// dial: it is called before the run begins, when the network takes no time.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// WaitTurn, if not nil, returns when it is the calling goroutine's turn to act. The words are
	// the command that the goroutine will send next. If another goroutine may send an equal
	// command, more words must distinguish the two. Goroutines that wait at the same moment are
	// sorted by their words, and act one at a time, each until it waits for something else. A
	// library has to call WaitTurn if its goroutines share a connection: without it two runs of one
	// world may differ, because nothing else orders such goroutines.
	WaitTurn func(words ...string)
	// WaitAfterTimer, if not nil, must be called by a goroutine that was woken by a timer that is
	// not on the process's clock. Libraries have such timers, and they fire even while the process
	// is paused. WaitAfterTimer returns when the process runs, as if the timer were on the
	// process's clock. If a goroutine calls it during a pause, the trace does not report that the
	// process ran while it was paused. If one timer has woken several goroutines, they continue at
	// different times, sorted by their words, which are as for WaitTurn. ctx is the context of what
	// the goroutine will do next. A goroutine whose ctx has ended gets no time of its own. The
	// caller must check ctx afterwards, because a timer that ends ctx may be due at the same time
	// as the timer that has woken the goroutine.
	WaitAfterTimer func(ctx context.Context, words ...string)
	// Clock reads the process's clocks and sleeps on them.
	Clock fakeclock.Clock
	// Rand is the process's source of random bytes; reading it never fails.
	Rand io.Reader
	// Options are the lock's settings.
	Options Options
	// Data describes the data that the lock's servers store too; it is only for a lock that
	// is a [DataClient]. nil means that they store no data.
	Data *Data

	state *processState
}

// processState is the state that all handles of one process share.
type processState struct {
	shared   map[string]any
	warmUps  []func(context.Context)
	closers  []io.Closer
	cleanups []func()

	processCtx  context.Context // ends with the process; nil means that it never ends
	lifetime    context.Context // ends with Close; nil if Lifetime was never called
	endLifetime context.CancelFunc
}

// ensureState returns the state of the process, which it makes at the first call.
func (e *Env) ensureState() *processState {
	if e.state == nil {
		e.state = &processState{shared: map[string]any{}}
	}
	return e.state
}

// ForKey returns the environment for another lock of the same process. The two environments
// share the state of the process, and Close of one of them closes all of that state.
func (e *Env) ForKey(key string) *Env {
	e.ensureState()
	other := *e
	other.Key = key
	return &other
}

// Share returns a value that all handles of a process share under a name, such as a client or a
// session. The first call with this name makes the value. Share must be called while a handle
// is made, and not concurrently.
func Share[T any](e *Env, name string, create func() T) T {
	shared := e.ensureState().shared
	if _, made := shared[name]; !made {
		shared[name] = create()
	}
	return shared[name].(T)
}

// OnWarmUp registers f to be called before the run begins, once all handles are made. f
// opens those connections that a process has open when it has been running for a while. f
// returns no error: if a connection fails now, the lock will meet the same failure again.
func (e *Env) OnWarmUp(f func(context.Context)) {
	c := e.ensureState()
	c.warmUps = append(c.warmUps, f)
}

// WarmUp calls all functions that OnWarmUp has registered. Only the code that runs a lock
// calls it.
func (e *Env) WarmUp(ctx context.Context) {
	for _, warm := range e.ensureState().warmUps {
		warm(ctx)
	}
}

// Lifetime returns a context that ends when Close is called.
func (e *Env) Lifetime() context.Context {
	c := e.ensureState()
	if c.lifetime == nil {
		c.lifetime, c.endLifetime = context.WithCancel(context.Background())
	}
	return c.lifetime
}

// ProcessContext returns a context that ends with the process. The process may end before Close
// is called. A call of the lock that still waits can use this context to end.
func (e *Env) ProcessContext() context.Context {
	if processCtx := e.ensureState().processCtx; processCtx != nil {
		return processCtx
	}
	return context.Background()
}

// SetProcessContext sets the context that ends with the process. Only the code that runs a
// lock calls it, before it makes a lock.
func (e *Env) SetProcessContext(ctx context.Context) { e.ensureState().processCtx = ctx }

// closeLater registers closer to be closed by Close, in the order of the calls of closeLater.
func (e *Env) closeLater(closer io.Closer) {
	c := e.ensureState()
	c.closers = append(c.closers, closer)
}

// Cleanup registers f to be called by Close, after everything else, in the reverse order of
// the calls of Cleanup. It is for connections that a lock has opened with Dial, and for
// goroutines of the lock.
func (e *Env) Cleanup(f func()) {
	c := e.ensureState()
	c.cleanups = append(c.cleanups, f)
}

// Close closes what the process's locks and token sources have opened. It ends unfinished
// dials and the background work of a lock.
func (e *Env) Close() error {
	c := e.ensureState()
	if c.endLifetime != nil {
		c.endLifetime()
	}
	var errs []error
	for _, closer := range c.closers {
		errs = append(errs, closer.Close())
	}
	for _, f := range slices.Backward(c.cleanups) {
		f()
	}
	*c = processState{shared: map[string]any{}}
	return errors.Join(errs...)
}
