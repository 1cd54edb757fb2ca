package redsync_test

import (
	"context"
	"errors"
	"testing"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/redigo"
	"github.com/gomodule/redigo/redis"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
	"github.com/locksim/locksim/trackrecord"
)

func TestRedsync(t *testing.T) {
	trackrecord.Run(t, locktest.Config{Nodes: 3, Extends: true}, newLock)
}

// newLock is redsync on redigo, both as they are by default, but for the number of
// tries: when to try again is the story's to say.
func newLock(env *locks.Env) (locks.Lock, error) {
	var pools []redsyncredis.Pool
	for i := range env.Nodes {
		dial := env.Dialer(i)
		pool := &redis.Pool{MaxIdle: 3, DialContext: func(ctx context.Context) (redis.Conn, error) {
			c, err := dial(ctx, "tcp", env.Nodes[i])
			if err != nil {
				return nil, err
			}
			return redis.NewConn(c, 0, 0), nil
		}}
		env.Cleanup(func() { pool.Close() })
		pools = append(pools, redigo.NewPool(pool))
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
