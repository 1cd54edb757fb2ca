// Package redsyncv4 makes a lock of redsync, version 4, for the tests in the folders below.
// Each of these tests uses another Redis client. They are separate packages, because an old
// version of redsync does not support the newer clients, and such a test would not compile.
package redsyncv4

import (
	"context"
	"errors"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
	"github.com/locksim/locksim/trackrecord/internal/proof"
)

// Config says how the lock is tested: on three nodes, and that its leases can be extended.
var Config = locktest.Config{Nodes: 3, Extends: true}

// New returns a function that makes a lock of redsync with the defaults of redsync. There is one
// exception: the lock tries only once, because the story (the scenario of the bug) decides when to
// try again. pool makes the connections to one node.
func New(pool func(env *locks.Env, node int) redis.Pool, options ...redsync.Option) proof.New {
	return func(env *locks.Env) (locks.Lock, error) {
		var pools []redis.Pool
		for i := range env.Nodes {
			pools = append(pools, pool(env, i))
		}
		options := append([]redsync.Option{redsync.WithExpiry(env.TTL), redsync.WithTries(1)}, options...)
		return lock{env.Key, redsync.New(pools...), options}, nil
	}
}

// lock is a client's handle on the lock.
type lock struct {
	key     string
	redsync *redsync.Redsync
	options []redsync.Option
}

func (l lock) Acquire(ctx context.Context) (locks.Lease, error) {
	m := l.redsync.NewMutex(l.key, l.options...)
	if err := m.LockContext(ctx); err != nil {
		return nil, locks.ErrNotAcquired
	}
	return lease{m}, nil
}

// lease is one grant.
type lease struct{ mutex *redsync.Mutex }

func (l lease) Release(ctx context.Context) error {
	if ok, _ := l.mutex.UnlockContext(ctx); !ok {
		return errors.New("Unlock says no")
	}
	return nil
}

func (l lease) Extend(ctx context.Context) error {
	if ok, _ := l.mutex.ExtendContext(ctx); !ok {
		return errors.New("Extend says no")
	}
	return nil
}
