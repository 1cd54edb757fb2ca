// Package redsyncv4 makes a lock of redsync, version 4. Each test has its own Redis client,
// and a folder of its own, because an old redsync does not support the newer clients.
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

// Config describes what redsync claims.
var Config = locktest.Config{Nodes: 3, Extends: true}

// New makes redsync with its defaults, except that it tries once, because the story decides
// when to try again. The function pool connects it to a node.
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
