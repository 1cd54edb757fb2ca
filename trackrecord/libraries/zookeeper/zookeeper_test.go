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

// The library's Lock, as its adapter has it.
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
			return cleaning{l, env, session.Conn}, err
		}})
}

// cleaning is what can be done without a new version, by a process that has one lock and
// asks for it once at a time: when Lock has failed, any node in the queue that is of the
// process's session is of no use.
type cleaning struct {
	locks.Lock
	env  *locks.Env
	conn *zk.Conn
}

func (l cleaning) Acquire(ctx context.Context) (locks.Lease, error) {
	lease, err := l.Lock.Acquire(ctx)
	for err != nil && ctx.Err() == nil {
		if l.clean() == nil {
			break
		}
		_ = l.env.Clock.Sleep(ctx, time.Second) // until there is a connection
	}
	return lease, err
}

func (l cleaning) clean() error {
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
