package zookeeper_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/locksim/locksim/libraries/zookeeper"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
	"github.com/locksim/locksim/trackrecord/internal/proof"
)

// TestLock tests the library's Lock through its adapter.
func TestLock(t *testing.T) {
	queue, _ := locks.Lookup("zookeeper")
	config := locktest.Config{System: locks.ZooKeeper, Notifies: true, Tokens: true}
	proof.Run(t, config, queue.New,
		proof.Option{Name: "the nodes of a failed Lock deleted", New: func(env *locks.Env) (locks.Lock, error) {
			l, err := queue.New(env)
			if err != nil {
				return nil, err
			}
			session, err := zookeeper.Open(env)
			return cleaningLock{l, env, session.Conn}, err
		}})
}

// cleaningLock works around the bug without a new version of the library. It is for a
// process that has one lock and makes one attempt at a time. When Lock has failed, it
// deletes from the queue all nodes of its own session.
type cleaningLock struct {
	locks.Lock
	env  *locks.Env
	conn *zk.Conn
}

func (l cleaningLock) Acquire(ctx context.Context) (locks.Lease, error) {
	lease, err := l.Lock.Acquire(ctx)
	for err != nil && ctx.Err() == nil {
		if l.clean() == nil {
			break
		}
		_ = l.env.Clock.Sleep(ctx, time.Second) // until there may be a connection again
	}
	return lease, err
}

func (l cleaningLock) clean() error {
	queue := locks.ZooKeeperPath(l.env.Key)
	places, _, err := l.conn.Children(queue)
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	for _, place := range places {
		var stat *zk.Stat
		if _, stat, err = l.conn.Exists(queue + "/" + place); err != nil {
			return err
		}
		if stat.EphemeralOwner == l.conn.SessionID() {
			if err = l.conn.Delete(queue+"/"+place, -1); err != nil && !errors.Is(err, zk.ErrNoNode) {
				return err
			}
		}
	}
	return err
}
