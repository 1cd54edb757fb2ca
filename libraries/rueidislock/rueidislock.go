// Package rueidislock provides the locks rueidislock and rueidislock-strict. Both are the
// lock of github.com/redis/rueidis, unmodified. The strict one does not send a command
// again when its connection breaks, and does not test idle connections. See
// [locks.Provide].
package rueidislock

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"github.com/locksim/locksim/internal/answers"
	"github.com/locksim/locksim/locks"
)

func init() {
	locks.Provide("rueidislock", func(e *locks.Env) (locks.Lock, error) { return newLock(e, func(*rueidis.ClientOption) {}) })
	locks.Provide("rueidislock-strict", func(e *locks.Env) (locks.Lock, error) {
		return newLock(e, func(o *rueidis.ClientOption) {
			o.DisableRetry = true
			o.Dialer = net.Dialer{KeepAlive: -1}
		})
	})
}

// The library's defaults. They determine the names of the keys that the lock sets.
const (
	keyPrefix   = "rueidislock"
	keyMajority = 2
)

// lock is rueidislock with its defaults, except that the simulated nodes do not notify
// clients of changed keys. So the library notices that a key is lost only when it extends
// the key, every half TTL.
type lock struct {
	env    *locks.Env
	locker rueidislock.Locker
	// lifetime is cancelled by Env.Close. leases counts the leases for which the library
	// still runs goroutines, so that Env.Close can wait for them.
	lifetime context.Context
	leases   sync.WaitGroup
}

// newLock makes a lock on the first node. setOptions changes rueidis's options.
func newLock(e *locks.Env, setOptions func(*rueidis.ClientOption)) (locks.Lock, error) {
	if len(e.Nodes) == 0 {
		return nil, errors.New("rueidislock needs a Redis node, but there is none")
	}
	o := clientOption(e, 0)
	setOptions(&o)
	locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption:  o,
		ClientBuilder: func(o rueidis.ClientOption) (rueidis.Client, error) { return Open(e, o) },
		KeyPrefix:     keyPrefix,
		KeyMajority:   keyMajority,
		KeyValidity:   e.TTL,
	})
	if err != nil {
		return nil, err
	}
	l := &lock{env: e, locker: locker}
	var end context.CancelFunc
	l.lifetime, end = context.WithCancel(context.Background())
	e.Cleanup(func() {
		end()
		l.leases.Wait()
		locker.Close()
	})
	return l, nil
}

// Acquire tries once. The library holds a lock only until the context that was passed to
// TryWithContext ends. So TryWithContext gets another context than ctx. If ctx ends during the
// attempt, that context ends too; after the attempt, ctx no longer matters.
func (l *lock) Acquire(ctx context.Context) (locks.Lease, error) {
	lockCtx, cancel := context.WithCancel(l.lifetime)
	stopAttempt := context.AfterFunc(ctx, cancel)
	holdCtx, release, err := l.locker.TryWithContext(lockCtx, l.env.Key)
	stopAttempt()
	if err != nil {
		cancel()
		return nil, answers.WithCause(ctx, fmt.Errorf("%w: rueidislock: %s", locks.ErrNotAcquired, failureText(err)))
	}
	l.leases.Go(func() {
		<-holdCtx.Done()
		release() // this waits for the library's goroutines
		cancel()
	})
	granted := &lease{lost: make(chan struct{}), release: release}
	granted.stopWatching = context.AfterFunc(holdCtx, func() { close(granted.lost) })
	return granted, nil
}

// failureText returns why an attempt failed, in words that are equal in every run.
func failureText(err error) string {
	if errors.Is(err, rueidislock.ErrNotLocked) {
		return "a key is held by others"
	}
	return "too few keys (" + errorText(err) + ")"
}

// A lease is renewed by the library until the library notices that it has lost most of the
// keys. The library does not say until when the lease is valid, so a lease has no method Expires.
type lease struct {
	// lost is closed when the lock ends without a release: because the library has lost its
	// keys, because Env.Close is called, or because the context of Acquire ended during the
	// attempt. A release calls stopWatching before it ends the lock, so that lost is not closed.
	// stopWatching returns false if the lock had already ended.
	lost         chan struct{}
	stopWatching func() bool
	release      func()
}

// Lost implements [locks.Notifier].
func (l *lease) Lost() <-chan struct{} { return l.lost }

// Release calls the library's cancel function, which returns when the library has tried to
// delete the keys. The library does not report whether that succeeded. Release returns
// locks.ErrLost if the lock had ended before.
func (l *lease) Release(context.Context) error {
	held := l.stopWatching()
	l.release()
	if !held {
		return locks.ErrLost
	}
	return nil
}
