package redsync_test

import (
	"context"
	"errors"
	"testing"

	"github.com/go-redsync/redsync"
	"github.com/gomodule/redigo/redis"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
	"github.com/locksim/locksim/trackrecord/internal/proof"
)

func TestRedsync(t *testing.T) {
	proof.Run(t, locktest.Config{Nodes: 3, Extends: true}, newLock)
}

// newLock makes redsync on redigo without timeouts, which is redigo's default. The lock
// tries once, because the story decides when to try again.
func newLock(env *locks.Env) (locks.Lock, error) {
	var pools []redsync.Pool
	for i := range env.Nodes {
		dial := env.Dialer(i)
		pool := &redis.Pool{MaxIdle: 3, Dial: func() (redis.Conn, error) {
			c, err := dial(context.Background(), "tcp", env.Nodes[i])
			if err != nil {
				return nil, err
			}
			return redis.NewConn(c, 0, 0), nil
		}}
		env.Cleanup(func() { pool.Close() })
		pools = append(pools, pool)
	}
	return lock{env, redsync.New(pools)}, nil
}

type lock struct {
	env     *locks.Env
	redsync *redsync.Redsync
}

func (l lock) Acquire(context.Context) (locks.Lease, error) {
	m := l.redsync.NewMutex(l.env.Key, redsync.SetExpiry(l.env.TTL), redsync.SetTries(1))
	if err := m.Lock(); err != nil {
		return nil, locks.ErrNotAcquired
	}
	return lease{m}, nil
}

type lease struct{ mutex *redsync.Mutex }

func (l lease) Release(context.Context) error {
	if !l.mutex.Unlock() {
		return errors.New("Unlock says no")
	}
	return nil
}

func (l lease) Extend(context.Context) error {
	if !l.mutex.Extend() {
		return errors.New("Extend says no")
	}
	return nil
}
