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

// Env is what a lock gets from the process that it runs in. What is only for locks on
// Redis, such as [Env.Redis], is built on the rest, and so can any other client be.
type Env struct {
	// Key is the name of the lock, and the key that it is stored under.
	Key string
	// Client is the name of the process, which is unique in the world. It is the identity
	// for locks whose grants name their holder. It can be a prefix of another name:
	// worker-1 is one of worker-10.
	Client string
	// TTL is how long a grant lasts; it is positive.
	TTL time.Duration
	// Nodes are the addresses of the nodes that store the lock, as IP:port. A kind that is
	// Open needs none.
	Nodes []string
	// Counters are the addresses of the nodes that count fencing tokens, as IP:port.
	Counters []string
	// Dial opens a connection to a node. Any client can be built on it. A constructor may
	// dial: it runs before the story begins, when the network takes no time.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// WaitTurn, if not nil, returns when it is the calling goroutine's turn to act. If
	// several goroutines wait at the same moment, they act one at a time, each until it
	// waits for something else, in the order of their words. The words are the command that
	// the goroutine is about to send, with more words if they are needed to distinguish it
	// from equal commands. A library needs this if its goroutines share a connection:
	// otherwise two runs of one world may differ, because nothing else can order such
	// goroutines.
	WaitTurn func(words ...string)
	// WaitAfterTimer, if not nil, must be called by a goroutine after it was woken by a
	// timer that is not on the process's clock. Libraries have such timers, and they fire
	// during a pause too. WaitAfterTimer returns when the process runs, as if the timer
	// were on its clock. A call during a pause does not count as running on.
	//
	// The goroutines that one timer has woken continue at different times, in the order of
	// their words, so that no two of the times at which they start are equal. The words are
	// as for WaitTurn. ctx is the context of what the goroutine is about to do. A goroutine
	// whose ctx has ended gets no time of its own. The caller must check ctx afterwards,
	// because a timer that ends it may be due together with the one that has woken the
	// goroutine.
	WaitAfterTimer func(ctx context.Context, words ...string)
	// Clock is the process's clocks.
	Clock fakeclock.Clock
	// Rand is the process's source of random bytes; reading it never fails.
	Rand io.Reader
	// Options are the lock's settings.
	Options Options
	// Data describes the data that is stored on the lock's servers too; nil is none. It is
	// for a lock that is a [DataClient].
	Data *Data

	state *processState
}

// processState is the state that all handles of one process share.
type processState struct {
	shared   map[string]any
	warmUps  []func(context.Context)
	closers  []io.Closer
	cleanups []func()

	processCtx  context.Context // ends with the process; nil never ends
	lifetime    context.Context // ends with Close; nil if it was never requested
	endLifetime context.CancelFunc
}

func (e *Env) process() *processState {
	if e.state == nil {
		e.state = &processState{shared: map[string]any{}}
	}
	return e.state
}

// ForKey returns the environment of the same process for another lock. Both share the state
// of the process, and closing either closes all of it.
func (e *Env) ForKey(key string) *Env {
	e.process()
	other := *e
	other.Key = key
	return &other
}

// Share returns what all handles of a process share under a name, such as a client or a
// session. The first call makes it. Share must be called while a handle is made, and not
// concurrently.
func Share[T any](e *Env, name string, make func() T) T {
	shared := e.process().shared
	if _, made := shared[name]; !made {
		shared[name] = make()
	}
	return shared[name].(T)
}

// OnWarmUp registers f to be called before the story begins, once all handles are made. f
// opens the connections that a process which has been running for a while has open. It
// returns no error: the lock will meet the same failure again.
func (e *Env) OnWarmUp(f func(context.Context)) {
	c := e.process()
	c.warmUps = append(c.warmUps, f)
}

// WarmUp calls what was registered with OnWarmUp. Only the code that runs a lock calls it.
func (e *Env) WarmUp(ctx context.Context) {
	for _, warm := range e.process().warmUps {
		warm(ctx)
	}
}

// Lifetime returns a context that ends with Close.
func (e *Env) Lifetime() context.Context {
	c := e.process()
	if c.lifetime == nil {
		c.lifetime, c.endLifetime = context.WithCancel(context.Background())
	}
	return c.lifetime
}

// ProcessContext returns a context that ends with the process. That may be before Close:
// calls of the lock may still be running then, and wait for something that nothing else can
// end.
func (e *Env) ProcessContext() context.Context {
	if until := e.process().processCtx; until != nil {
		return until
	}
	return context.Background()
}

// SetProcessContext sets the context that ends with the process. Only the code that runs a
// lock calls it, before it makes a lock.
func (e *Env) SetProcessContext(ctx context.Context) { e.process().processCtx = ctx }

// CloseLater registers o to be closed by Close, in the order of the calls.
func (e *Env) CloseLater(o io.Closer) {
	c := e.process()
	c.closers = append(c.closers, o)
}

// Cleanup registers f to be called by Close, after everything else, the last first. It is
// for connections that a lock has opened with Dial, and for goroutines of its own.
func (e *Env) Cleanup(f func()) {
	c := e.process()
	c.cleanups = append(c.cleanups, f)
}

// Close closes what the process's locks and token sources have opened. It ends unfinished
// dials and the background work of a lock.
func (e *Env) Close() error {
	c := e.process()
	if c.endLifetime != nil {
		c.endLifetime()
	}
	var errs []error
	for _, o := range c.closers {
		errs = append(errs, o.Close())
	}
	for _, f := range slices.Backward(c.cleanups) {
		f()
	}
	*c = processState{shared: map[string]any{}}
	return errors.Join(errs...)
}
