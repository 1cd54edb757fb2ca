// Package consul provides the locks whose names begin with consul, on
// github.com/hashicorp/consul/api, unmodified. See [locks.Provide].
//
// Build your own lock on the client that [Client] returns.
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

// A use is a way to use the library's lock.
type use struct {
	make func(*lock) (recipe, error)
	// token returns the number of a key that is used as the token; nil means no tokens.
	token func(*api.KVPair) uint64
	// retries is how often a failed read of the key is repeated while the lock is held.
	retries int
}

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

// lock is a handle of a lock.
type lock struct {
	use
	env    *locks.Env
	client *api.Client
	// shared is the handle of all attempts, unless each has its own.
	shared *handle
	// open are the handles that have been acquired and not been given up.
	open []*handle
}

// A recipe is the library's Lock, or something with the same methods. It does not export
// the session that it has made, which is in a field lockSession.
type recipe interface {
	Lock(stop <-chan struct{}) (lost <-chan struct{}, err error)
	Unlock() error
	Destroy() error
}

// A handle is a recipe that only one goroutine uses at a time. The library's Lock keeps a
// mutex locked while it waits for an answer. A second caller must not wait for that mutex,
// because virtual time would stop; it waits for turn instead.
type handle struct {
	recipe
	turn chan struct{}
}

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

// Acquire waits for the lock. The library's Lock checks only between two requests whether
// it has been cancelled, and each of them may take a while. If the context ends first, the
// lock is released whenever the attempt acquires it.
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
	l.open = append(l.open, granted.handle)
	if !l.env.Options.Has("loss-signal") {
		return granted, nil
	}
	lossSignal := make(chan struct{})
	go func() {
		<-granted.lost
		if !granted.released.Load() {
			close(lossSignal)
		}
	}()
	return notifying{granted, lossSignal}, nil
}

// acquire acquires the lock, and then reads its token.
func (l *lock) acquire(ctx context.Context, h *handle) (*lease, error) {
	h.turn <- struct{}{}
	lost, err := h.Lock(ctx.Done())
	<-h.turn
	switch {
	case err != nil:
		return nil, err
	case lost == nil:
		return nil, errors.New("called off")
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

func (h *handle) unlock() error {
	h.turn <- struct{}{}
	defer func() { <-h.turn }()
	return h.Unlock()
}

// close ends the renewals of locks that were not given up, as the end of the process does.
func (l *lock) close() {
	for _, h := range l.open {
		_ = h.unlock()
	}
}

// A lease is a lock that is held as long as its session lasts.
type lease struct {
	lock    *lock
	handle  *handle
	session string
	lost    <-chan struct{}
	token   uint64
	// released: from now on the release is what closes Lock's channel.
	released atomic.Bool
}

// Session implements [locks.Sessioner].
func (g *lease) Session() string { return g.session }

// Token implements [locks.Tokener].
func (g *lease) Token() uint64 { return g.token }

// Release unlocks and ends the session. The library does not report whether the session
// still held the lock.
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

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// notifying is a lease whose holder watches Lock's channel.
type notifying struct {
	*lease
	lossSignal <-chan struct{}
}

// Lost implements [locks.Notifier]. The channel is closed when another client or nobody
// holds the key, and also when the library could not read the key.
func (n notifying) Lost() <-chan struct{} { return n.lossSignal }

func notAcquired(ctx context.Context, err error) error {
	return answers.WithCause(ctx, fmt.Errorf("%w: consul: %s", locks.ErrNotAcquired, describeError(err)))
}
