package redsync_test

import (
	"context"
	"errors"
	"testing"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
	"github.com/locksim/locksim/trackrecord"
)

func TestRedsync(t *testing.T) {
	trackrecord.Run(t, locktest.Config{Nodes: 3, Extends: true}, newLock)
}

// newLock is redsync without its option WithSetNXOnExtend.
func newLock(env *locks.Env) (locks.Lock, error) {
	var pools []redsyncredis.Pool
	for i := range env.Nodes {
		pools = append(pools, goredis.NewPool(env.Redis(i)))
	}
	return lock{env, redsync.New(pools...)}, nil
}

type lock struct {
	env     *locks.Env
	redsync *redsync.Redsync
}

func (l lock) Acquire(ctx context.Context) (locks.Lease, error) {
	m := l.redsync.NewMutex(l.env.Key, redsync.WithExpiry(l.env.TTL))
	if err := m.TryLockContext(ctx); err != nil {
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
