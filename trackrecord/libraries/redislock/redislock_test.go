package redislock_test

import (
	"context"
	"testing"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
	"github.com/locksim/locksim/trackrecord/internal/proof"
)

func TestRedislock(t *testing.T) {
	proof.Run(t, locktest.Config{Extends: true}, newLock)
}

// newLock makes redislock on go-redis with its defaults. Two of these defaults matter for
// the bug. If a reply is lost, go-redis sends the request again, up to three times. And
// ContextTimeoutEnabled is off, so the deadline that redislock gives its request, one TTL,
// does not limit the wait for the reply. The settings below only exclude randomness, and
// features that have nothing to do with locks.
func newLock(env *locks.Env) (locks.Lock, error) {
	client := redis.NewClient(&redis.Options{
		Addr:                     env.Nodes[0],
		Dialer:                   env.Dialer(0),
		MinRetryBackoff:          -1,
		MaxRetryBackoff:          -1,
		PoolSize:                 1024,
		PipelinePoolSize:         -1,
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	env.Cleanup(func() { client.Close() })
	return lock{env, redislock.New(client)}, nil
}

type lock struct {
	env    *locks.Env
	client *redislock.Client
}

func (l lock) Acquire(ctx context.Context) (locks.Lease, error) {
	held, err := l.client.Obtain(ctx, l.env.Key, l.env.TTL, nil)
	if err != nil {
		return nil, locks.ErrNotAcquired
	}
	return lease{held, l.env}, nil
}

type lease struct {
	lock *redislock.Lock
	env  *locks.Env
}

func (l lease) Release(ctx context.Context) error { return l.lock.Release(ctx) }

func (l lease) Extend(ctx context.Context) error { return l.lock.Refresh(ctx, l.env.TTL, nil) }
