// Package lock is the lock that everybody writes first.
package lock

import (
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/locksim/locksim/locks"
)

func init() {
	locks.Register(locks.Kind{
		Name:   "mine",
		Title:  "SET NX with a TTL, and DEL",
		System: locks.Redis,
		Slots:  func(key string, _ int) ([]locks.Slot, int) { return []locks.Slot{{Node: 0, Key: key}}, 1 },
		New:    func(e *locks.Env) (locks.Lock, error) { return &lock{e, locks.RedisClient(e, 0)}, nil },
	})
}

type lock struct {
	env   *locks.Env
	redis *redis.Client
}

func (l *lock) Acquire(ctx context.Context) (locks.Lease, error) {
	ok, err := l.redis.SetNX(ctx, l.env.Key, "locked", l.env.TTL).Result()
	if err == nil && !ok {
		err = locks.ErrNotAcquired
	}
	return l, err
}

func (l *lock) Release(ctx context.Context) error { return l.redis.Del(ctx, l.env.Key).Err() }
