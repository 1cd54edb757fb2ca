// Package consul provides the locks whose names begin with consul. They are the Lock and
// the Semaphore of github.com/hashicorp/consul/api, unmodified. See [locks.Provide].
//
// To test your own lock on Consul, build it on the client that [Client] returns.
package consul

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/hashicorp/consul/api"

	"github.com/locksim/locksim/internal/answers"
	"github.com/locksim/locksim/locks"
	_ "github.com/locksim/locksim/servers/consul" // the server that keeps the locks
)

func init() {
	modify := func(p *api.KVPair) uint64 { return p.ModifyIndex }
	provide("consul", use{make: newMutex, token: modify})
	provide("consul-lockindex", use{make: newMutex, token: func(p *api.KVPair) uint64 { return p.LockIndex }})
	provide("consul-patient", use{make: newMutex, token: modify, retries: 3})
	provide("consul-semaphore", use{make: newSemaphore})
}

// A use is one way to use the library. Each lock name of this package has a use.
type use struct {
	// make makes the library's lock.
	make func(*lock) (recipe, error)
	// token returns the fencing token of a grant, which is one of the numbers that Consul
	// keeps for the key. It is nil if the lock has no tokens.
	token func(*api.KVPair) uint64
	// retries is how often the library repeats a failed read of the key before it gives up
	// a lock that it holds.
	retries int
}

// provide makes a lock available under a name.
func provide(name string, u use) {
	locks.Provide(name, func(e *locks.Env) (locks.Lock, error) {
		client, err := Client(e)
		if err != nil {
			return nil, err
		}
		l := &lock{use: u, env: e, client: client}
		e.Cleanup(l.close)
		return l, nil
	})
}

// A lock implements [locks.Lock] for one client, which can make several attempts with it.
type lock struct {
	use
	env    *locks.Env
	client *api.Client
	// shared is the library's lock that all attempts use. It is nil if each attempt uses
	// its own.
	shared *handle
	// acquired are the library's locks that were acquired. They are unlocked when the world, which
	// is one simulation, ends.
	acquired []*handle
}

// A recipe is the library's Lock, or a type with the same methods. Lock opens a session, but does
// not return the session. The session's ID is in the unexported field lockSession.
type recipe interface {
	Lock(stop <-chan struct{}) (lost <-chan struct{}, err error)
	Unlock() error
	Destroy() error
}

// A handle is a recipe that only one goroutine uses at a time. The library's Lock keeps a
// mutex locked while it waits for an answer. If another goroutine waited for that mutex,
// virtual time could not pass. So goroutines first wait for the channel turn, which is full
// while one of them uses the recipe.
type handle struct {
	recipe
	turn chan struct{}
}

// handle returns the handle for an attempt, and makes it if necessary.
func (l *lock) handle() (*handle, error) {
	if l.shared != nil {
		return l.shared, nil
	}
	made, err := l.make(l)
	if err != nil {
		return nil, err
	}
	h := &handle{recipe: made, turn: make(chan struct{}, 1)}
	if !l.env.Options.Has("own-handle") {
		l.shared = h
	}
	return h, nil
}

// newMutex makes the library's Lock. Without the option lock-delay, its lock-delay is so
// short that it has no effect.
func newMutex(l *lock) (recipe, error) {
	options := &api.LockOptions{
		Key: l.env.Key, Value: []byte(l.env.Client),
		SessionName: l.env.Client, SessionTTL: l.env.TTL.String(),
		MonitorRetries: l.retries,
	}
	if !l.env.Options.Has("lock-delay") {
		options.LockDelay = time.Millisecond
	}
	return l.client.LockOpts(options)
}

// Acquire waits for the lock. The library checks only between two requests whether the
// attempt was cancelled, and each request may take a while. If the context ends first,
// Acquire returns, and the lock is released in case the attempt acquires it later.
func (l *lock) Acquire(ctx context.Context) (locks.Lease, error) {
	h, err := l.handle()
	if err != nil {
		return nil, notAcquired(ctx, err)
	}
	granted, ok, err := answers.Call(ctx, func() (*lease, error) { return l.acquire(ctx, h) }, func(*lease) { _ = h.unlock() })
	switch {
	case !ok:
		return nil, notAcquired(ctx, errors.New("still waiting"))
	case err != nil:
		return nil, notAcquired(ctx, err)
	}
	l.acquired = append(l.acquired, granted.handle)
	if !l.env.Options.Has("loss-signal") {
		return granted, nil
	}
	// The library closes lost also when the lock is released. Only a close before the
	// release is a loss.
	lossSignal := make(chan struct{})
	go func() {
		<-granted.lost
		if !granted.released.Load() {
			close(lossSignal)
		}
	}()
	return notifyingLease{granted, lossSignal}, nil
}

// acquire acquires the lock, and then reads the token of the grant.
func (l *lock) acquire(ctx context.Context, h *handle) (*lease, error) {
	h.turn <- struct{}{}
	lost, err := h.Lock(ctx.Done())
	<-h.turn
	switch {
	case err != nil:
		return nil, err
	case lost == nil:
		return nil, errors.New("cancelled")
	}
	g := &lease{lock: l, handle: h, session: reflect.Indirect(reflect.ValueOf(h.recipe)).FieldByName("lockSession").String(), lost: lost}
	if l.token == nil {
		return g, nil
	}
	pair, _, err := l.client.KV().Get(l.env.Key, nil)
	checksHolder := l.env.Options.Has("token-check")
	switch {
	case err == nil && pair == nil:
		err = locks.ErrLost
	case err == nil && checksHolder && pair.Session != g.session:
		err = locks.ErrLost
	}
	if err != nil {
		_ = h.unlock()
		return nil, err
	}
	g.token = l.token(pair)
	return g, nil
}

// unlock releases the library's lock when no other goroutine uses it.
func (h *handle) unlock() error {
	h.turn <- struct{}{}
	defer func() { <-h.turn }()
	return h.Unlock()
}

// close releases the locks that are still held, which ends the library's renewals. The end
// of a real process would end them too.
func (l *lock) close() {
	for _, h := range l.acquired {
		_ = h.unlock()
	}
}

// A lease is a lock that is held until its session ends or it is released.
type lease struct {
	lock    *lock
	handle  *handle
	session string
	lost    <-chan struct{}
	token   uint64
	// released reports whether Release was called. Then a close of lost is not a loss.
	released atomic.Bool
}

// Session implements [locks.Sessioner].
func (g *lease) Session() string { return g.session }

// Token implements [locks.Tokener].
func (g *lease) Token() uint64 { return g.token }

// Release releases the lock and ends its session. The library does not report whether the
// session still held the lock. If the library has noticed a loss, Release returns
// locks.ErrLost without unlocking, unless the option lost-unlock is set. Without the option
// kept-key, Release also deletes the key.
func (g *lease) Release(ctx context.Context) error {
	g.released.Store(true)
	o := g.lock.env.Options
	if !o.Has("lost-unlock") && isClosed(g.lost) {
		return locks.ErrLost
	}
	_, ok, err := answers.Call(ctx, func() (struct{}, error) {
		err := g.handle.unlock()
		if err == nil && !o.Has("kept-key") {
			if err = g.handle.Destroy(); errors.Is(err, api.ErrLockInUse) {
				err = nil
			}
		}
		return struct{}{}, err
	}, nil)
	switch {
	case !ok:
		return answers.WithCause(ctx, errors.New("consul: no answer"))
	case err != nil:
		return answers.WithCause(ctx, fmt.Errorf("consul: %s", describeError(err)))
	}
	return nil
}

// isClosed reports whether a channel is closed.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// A notifyingLease is a lease that notifies its holder when the library notices a loss.
type notifyingLease struct {
	*lease
	lossSignal <-chan struct{}
}

// Lost implements [locks.Notifier]. The channel is closed when the library has found that
// another client or no client holds the key, and also when it could not read the key.
func (n notifyingLease) Lost() <-chan struct{} { return n.lossSignal }

// notAcquired returns the error of an attempt that has failed because of err.
func notAcquired(ctx context.Context, err error) error {
	return answers.WithCause(ctx, fmt.Errorf("%w: consul: %s", locks.ErrNotAcquired, describeError(err)))
}
