// Package consul provides the locks whose names begin with consul, on
// github.com/hashicorp/consul/api, unmodified. See [locks.Provide].
//
// A lock of one's own that is built on the client is made on [Client].
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
	_ "github.com/locksim/locksim/servers/consul" // what they are tried on
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
	// token is the number of a key that is taken for a token; nil takes none.
	token func(*api.KVPair) uint64
	// retries is how often a failed look at the key is tried again.
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

// lock is a handle.
type lock struct {
	use
	env    *locks.Env
	client *api.Client
	// one is that of all attempts, if each has not its own.
	one *handle
	// open are those that were got and not given up.
	open []*handle
}

// A recipe is the library's Lock, or what has the same methods. It keeps to itself which
// session it has made, in a field lockSession.
type recipe interface {
	Lock(stop <-chan struct{}) (lost <-chan struct{}, err error)
	Unlock() error
	Destroy() error
}

// A handle is a recipe that is used by one goroutine after the other. It has a mutex, which it keeps while it waits for an
// answer: two calls at once are to wait where time can pass meanwhile.
type handle struct {
	recipe
	turn chan struct{}
}

func (l *lock) handle() (*handle, error) {
	if l.one != nil {
		return l.one, nil
	}
	made, err := l.make(l)
	if err != nil {
		return nil, err
	}
	h := &handle{recipe: made, turn: make(chan struct{}, 1)}
	if !l.env.Options.Has("own-handle") {
		l.one = h
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

// Acquire waits for the lock. Lock looks only between two requests whether it was called off,
// and each of those may take a while: what an attempt gets whose context has ended is given
// back, whenever that is.
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
	told := make(chan struct{})
	go func() {
		<-granted.lost
		if !granted.released.Load() {
			close(told)
		}
	}()
	return notifying{granted, told}, nil
}

// acquire gets the lock, and then its token.
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
	checks := l.env.Options.Has("token-check")
	switch {
	case err == nil && pair == nil:
		err = locks.ErrLost
	case err == nil && checks && pair.Session != g.session:
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

// A lease is a lock for as long as its session lasts.
type lease struct {
	lock    *lock
	handle  *handle
	session string
	lost    <-chan struct{}
	token   uint64
	// released: what closes Lock's channel from now on is the release.
	released atomic.Bool
}

// Session is as in [locks.Sessioner].
func (g *lease) Session() string { return g.session }

// Token is as in [locks.Tokener].
func (g *lease) Token() uint64 { return g.token }

// Release unlocks, and ends the session. The library does not say whether the lock was still
// the session's.
func (g *lease) Release(ctx context.Context) error {
	g.released.Store(true)
	o := g.lock.env.Options
	if !o.Has("lost-unlock") && over(g.lost) {
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
		return answers.Because(ctx, errors.New("consul: no answer"))
	case err != nil:
		return answers.Because(ctx, fmt.Errorf("consul: %s", because(err)))
	}
	return nil
}

func over(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// notifying is a lease whose holder looks at Lock's channel.
type notifying struct {
	*lease
	told <-chan struct{}
}

// Lost is as in [locks.Notifier]. It is closed when the key is somebody else's or nobody's, and
// also when the library could not look.
func (n notifying) Lost() <-chan struct{} { return n.told }

func notAcquired(ctx context.Context, err error) error {
	return answers.Because(ctx, fmt.Errorf("%w: consul: %s", locks.ErrNotAcquired, because(err)))
}
