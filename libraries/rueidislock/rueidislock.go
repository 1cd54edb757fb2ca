// Package rueidislock provides the locks rueidislock and rueidislock-strict: the lock
// of github.com/redis/rueidis, unmodified. See [locks.Provide].
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

// The library's defaults, which determine the keys in the lock's card.
const (
	keyPrefix   = "rueidislock"
	keyMajority = 2
)

// lock is rueidislock with its defaults, except that the nodes do not notify it of changed
// keys. So it learns of a lost key when it extends the key, every half TTL.
type lock struct {
	env    *locks.Env
	locker rueidislock.Locker
	// lifetime ends with Env.Close. leases counts the leases for which the library still
	// has goroutines.
	lifetime context.Context
	leases   sync.WaitGroup
}

func newLock(e *locks.Env, set func(*rueidis.ClientOption)) (locks.Lock, error) {
	if len(e.Nodes) == 0 {
		return nil, errors.New("rueidislock needs a Redis node, but there is none")
	}
	o := clientOption(e, 0)
	set(&o)
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

// Acquire tries once. The context is only for the attempt: the library would use it for the
// lock, and release the lock at its end.
func (l *lock) Acquire(ctx context.Context) (locks.Lease, error) {
	life, cancel := context.WithCancel(l.lifetime)
	attempt := context.AfterFunc(ctx, cancel)
	held, release, err := l.locker.TryWithContext(life, l.env.Key)
	attempt()
	if err != nil {
		cancel()
		return nil, answers.WithCause(ctx, fmt.Errorf("%w: rueidislock: %s", locks.ErrNotAcquired, failureText(err)))
	}
	l.leases.Go(func() {
		<-held.Done()
		release() // waits for the goroutines
		cancel()
	})
	granted := &lease{lost: make(chan struct{}), release: release}
	granted.stopWatching = context.AfterFunc(held, func() { close(granted.lost) })
	return granted, nil
}

func failureText(err error) string {
	if errors.Is(err, rueidislock.ErrNotLocked) {
		return "a key is held by others"
	}
	return "too few keys (" + errorText(err) + ")"
}

// lease renews itself, without announcing it, until the library notices that it has lost
// most of its keys.
type lease struct {
	// lost is closed when the library ends the lock's context. The library also does that
	// when the lock is released, but then stopWatching has been called before. It reports
	// whether the lock had not ended.
	lost         chan struct{}
	stopWatching func() bool
	release      func()
}

// Lost is as in [locks.Notifier].
func (l *lease) Lost() <-chan struct{} { return l.lost }

// Release is the library's cancel, which waits until the library has tried to delete the
// keys. It does not report whether that succeeded.
func (l *lease) Release(context.Context) error {
	held := l.stopWatching()
	l.release()
	if !held {
		return locks.ErrLost
	}
	return nil
}
