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

// Env is what a lock gets from the process that it runs in. What is for locks on Redis
// alone, such as [Env.Redis], is built on the rest, as anybody's client can be.
type Env struct {
	// Key is the name of the lock, and what it is kept under.
	Key string
	// Client is the name of the process, which no other process of the world has: the
	// identity of a lock whose grants are told apart by who holds them. It can be the
	// beginning of another's, as worker-1 is of worker-10.
	Client string
	// TTL is how long a grant lasts; it is positive.
	TTL time.Duration
	// Nodes are the addresses of the nodes that the lock is kept on, as IP:port. A lock of
	// a kind that is Open needs none.
	Nodes []string
	// Counters are the addresses of the nodes that keep counters of fencing tokens, as
	// IP:port.
	Counters []string
	// Dial opens a connection to a node. Any client can be built on it. A constructor may
	// dial: it runs before the story begins, when the network takes no time.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Turn, if set, returns when it is the calling goroutine's turn to act. Of those
	// that wait for it at one moment one acts at a time, until it waits for something
	// else, in the order of their words: the command that each is about to send, if
	// need be with more words to tell it from equal ones. A library whose goroutines
	// share a connection needs it for equal runs of one world: nothing else can
	// tell afterwards which of them happened to be first.
	Turn func(words ...string)
	// Woken, if set, is for a goroutine that a timer has woken which is not on the process's
	// clock, as those of libraries are not: such a timer goes off in a pause, too. Woken returns
	// when the process runs, as if the timer were on its clock; to ask for it in a pause is not
	// to run on in it. Of those that one timer has woken each goes on at a time of its own, so
	// that no two of the times that they set out from are equal, in the order of their words,
	// which are as those of Turn. A goroutine whose context has ended by then gets no time of its
	// own: the context is that of what it is about to do, and the caller must look at it
	// afterwards, because a timer that ends it may be due together with the one that has woken
	// the goroutine.
	Woken func(ctx context.Context, words ...string)
	// Clock is the process's clocks.
	Clock fakeclock.Clock
	// Rand is the process's source of random bytes; reading it never fails.
	Rand io.Reader
	// Options are the lock's settings.
	Options Options
	// Data is what is kept on the lock's servers besides; nil is nothing. It is for a lock
	// that is a [DataClient].
	Data *Data

	common *common
}

// common is what all handles of one process have together.
type common struct {
	shared   map[string]any
	warms    []func(context.Context)
	opened   []io.Closer
	cleanups []func()

	until context.Context // the process ends; nil never does
	life  context.Context // until Close; nil if nothing has asked for it
	end   context.CancelFunc
}

func (e *Env) all() *common {
	if e.common == nil {
		e.common = &common{shared: map[string]any{}}
	}
	return e.common
}

// On is the same process as a handle on another lock has it. Both share what the process
// has, and either's Close closes all of it.
func (e *Env) On(key string) *Env {
	e.all()
	other := *e
	other.Key = key
	return &other
}

// Share is what all handles of a process have in common under a name: a client, a session.
// The first that asks makes it. It is to be called when a handle is made, and not from
// several goroutines.
func Share[T any](e *Env, name string, make func() T) T {
	shared := e.all().shared
	if _, made := shared[name]; !made {
		shared[name] = make()
	}
	return shared[name].(T)
}

// Warm has f called before the story begins, once all handles are made: to open the
// connections that a process which has been running for a while has open. What fails
// then is something that the lock will meet again.
func (e *Env) Warm(f func(context.Context)) {
	c := e.all()
	c.warms = append(c.warms, f)
}

// Connect warms the process up: it is for whoever runs a lock.
func (e *Env) Connect(ctx context.Context) {
	for _, warm := range e.all().warms {
		warm(ctx)
	}
}

// Lifetime is a context that ends with Close.
func (e *Env) Lifetime() context.Context {
	c := e.all()
	if c.life == nil {
		c.life, c.end = context.WithCancel(context.Background())
	}
	return c.life
}

// Process is a context that ends with the process, which may be before Close: calls of the
// lock may be under way still, and wait for what nothing else can end.
func (e *Env) Process() context.Context {
	if until := e.all().until; until != nil {
		return until
	}
	return context.Background()
}

// Until says when the process ends: it is for whoever runs a lock, before making one.
func (e *Env) Until(ctx context.Context) { e.all().until = ctx }

// Opened has something closed by Close, in the order in which it was opened.
func (e *Env) Opened(o io.Closer) {
	c := e.all()
	c.opened = append(c.opened, o)
}

// Cleanup has f called by Close, after everything else, the last first. It is for
// what a lock has opened with Dial, and for goroutines of its own.
func (e *Env) Cleanup(f func()) {
	c := e.all()
	c.cleanups = append(c.cleanups, f)
}

// Close closes what the process's locks and token sources have opened; it ends the dials
// that are under way and what a lock does by itself.
func (e *Env) Close() error {
	c := e.all()
	if c.end != nil {
		c.end()
	}
	var errs []error
	for _, o := range c.opened {
		errs = append(errs, o.Close())
	}
	for _, f := range slices.Backward(c.cleanups) {
		f()
	}
	*c = common{shared: map[string]any{}}
	return errors.Join(errs...)
}
