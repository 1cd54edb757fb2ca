package redsync_test

import (
	"context"
	"errors"
	"testing"

	"github.com/go-redis/redis/v8"
	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v8"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
	"github.com/locksim/locksim/trackrecord"
)

func TestRedsync(t *testing.T) {
	trackrecord.Run(t, locktest.Config{Nodes: 3, Extends: true}, newLock)
}

// newLock is redsync on go-redis, which sends each command once here. redsync tries
// once too: when to try again is the story's to say.
func newLock(env *locks.Env) (locks.Lock, error) {
	var pools []redsyncredis.Pool
	for i := range env.Nodes {
		client := redis.NewClient(&redis.Options{
			Addr:               env.Nodes[i],
			Dialer:             env.Dialer(i),
			MaxRetries:         -1,
			PoolSize:           1024,
			IdleTimeout:        -1,
			IdleCheckFrequency: -1,
		})
		env.Cleanup(func() { client.Close() })
		pools = append(pools, goredis.NewPool(client))
	}
	return lock{env, redsync.New(pools...)}, nil
}

type lock struct {
	env     *locks.Env
	redsync *redsync.Redsync
}

func (l lock) Acquire(ctx context.Context) (locks.Lease, error) {
	m := l.redsync.NewMutex(l.env.Key, redsync.WithExpiry(l.env.TTL), redsync.WithTries(1))
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
