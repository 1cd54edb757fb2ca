package naive

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// naive is a lock with common mistakes, which most people make in their first lock.
type naive struct {
	redis *redis.Client
	key   string
	ttl   time.Duration
}

func (n naive) Acquire(ctx context.Context) (locks.Lease, error) {
	ok, err := n.redis.SetNX(ctx, n.key, "locked", n.ttl).Result()
	if err == nil && !ok {
		err = locks.ErrNotAcquired
	}
	return n, err
}

func (n naive) Release(ctx context.Context) error { return n.redis.Del(ctx, n.key).Err() }

func TestNaive(t *testing.T) {
	locktest.Run(t, locktest.Config{}, func(env *locktest.Env) (locks.Lock, error) {
		return naive{env.Redis(0), env.Key(), env.TTL()}, nil
	})
}
