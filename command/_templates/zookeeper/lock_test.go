package lock

import (
	"context"
	"errors"
	"testing"

	"github.com/locksim/locksim/libraries/zookeeper"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// adapter makes a locks.Lock of a Lock.
type adapter struct{ *Lock }

func (a adapter) Acquire(ctx context.Context) (locks.Lease, error) {
	lease, err := a.Lock.Acquire(ctx)
	if errors.Is(err, ErrNotAcquired) {
		return nil, locks.ErrNotAcquired
	}
	if err != nil {
		return nil, err // and not lease, which is nil, but would not be a nil locks.Lease
	}
	return lease, nil
}

func TestLock(t *testing.T) {
	config := locktest.Config{
		System: locks.ZooKeeper,
		Nodes:  3, // an ensemble of three servers
	}
	locktest.Run(t, config, func(env *locktest.Env) (locks.Lock, error) {
		session, err := zookeeper.Open(env.Base())
		if err != nil {
			return nil, err
		}
		lock, err := New(session.Conn, locks.ZooKeeperPath(env.Key()), env.TTL())
		if err != nil {
			return nil, err // a TTL that the lock refuses is not tried
		}
		env.Cleanup(lock.Close)
		return adapter{lock}, nil
	})
}
