package rueidislock_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	adapter "github.com/locksim/locksim/libraries/rueidislock"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
	"github.com/locksim/locksim/trackrecord/internal/proof"
)

func TestRueidislock(t *testing.T) {
	proof.Run(t, locktest.Config{Slots: slots, Notifies: true}, newLock)
}

// slots returns the three keys of a lock, and the quorum: a client that has two of the keys
// holds the lock.
func slots(key string, _ int) (slots []locks.Slot, quorum int) {
	for i := range 3 {
		slots = append(slots, locks.Slot{Key: fmt.Sprintf("rueidislock:%d:%s", i, key)})
	}
	return slots, 2
}

// newLock makes rueidislock with its defaults, but without the client-side cache, because
// the simulated nodes do not notify clients of changed keys.
func newLock(env *locks.Env) (locks.Lock, error) {
	locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption: rueidis.ClientOption{
			InitAddress:       []string{env.Nodes[0]},
			ForceSingleClient: true,
			DisableCache:      true,
			ClientSetInfo:     rueidis.DisableClientSetInfo,
			RetryDelay:        func(int, rueidis.Completed, error) time.Duration { return time.Millisecond },
			DialCtxFn: func(ctx context.Context, addr string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
				ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
				defer cancel()
				return env.Dial(ctx, "tcp", addr)
			},
		},
		ClientBuilder: func(o rueidis.ClientOption) (rueidis.Client, error) { return adapter.Open(env, o) },
		KeyValidity:   env.TTL,
	})
	if err != nil {
		return nil, err
	}
	env.Cleanup(locker.Close)
	return lock{env, locker}, nil
}

type lock struct {
	env    *locks.Env
	locker rueidislock.Locker
}

// Acquire tries once. ctx is only for the attempt, so it is not passed to the library: the
// library would release the lock when ctx ends.
func (l lock) Acquire(ctx context.Context) (locks.Lease, error) {
	life, cancel := context.WithCancel(context.Background())
	stopWatching := context.AfterFunc(ctx, cancel)
	held, release, err := l.locker.TryWithContext(life, l.env.Key)
	stopWatching()
	if err != nil {
		cancel()
		return nil, locks.ErrNotAcquired
	}
	le := &lease{lost: make(chan struct{}), release: func() { release(); cancel() }}
	le.keep = context.AfterFunc(held, func() { close(le.lost) })
	l.env.Cleanup(cancel)
	return le, nil
}

type lease struct {
	lost    chan struct{}
	keep    func() bool // prevents that lost is closed; returns false if it is closed already
	release func()
}

func (l *lease) Lost() <-chan struct{} { return l.lost }

func (l *lease) Release(context.Context) error {
	held := l.keep()
	l.release()
	if !held {
		return locks.ErrLost
	}
	return nil
}
