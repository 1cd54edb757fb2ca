package learn

import (
	"context"
	"errors"
	"strconv"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/locksim/locksim/libraries/zookeeper"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// zooKeeperNode is a lock that is held by a znode. With the flag zk.FlagEphemeral, the servers
// delete the znode when its creator's session ends. Without it they keep the znode for ever.
type zooKeeperNode struct {
	conn  *zk.Conn
	path  string
	flags int32
}

func (l zooKeeperNode) Acquire(ctx context.Context) (locks.Lease, error) {
	session := l.conn.SessionID()
	_, err := l.conn.Create(l.path, nil, l.flags, zk.WorldACL(zk.PermAll))
	if errors.Is(err, zk.ErrNodeExists) {
		err = locks.ErrNotAcquired
	}
	return zooKeeperLease{l, session}, err
}

type zooKeeperLease struct {
	zooKeeperNode
	session int64
}

func (l zooKeeperLease) Release(ctx context.Context) error { return l.conn.Delete(l.path, -1) }

// Session returns the identifier of the session, as the servers write it. The lease lasts as
// long as this session.
func (l zooKeeperLease) Session() string { return strconv.FormatUint(uint64(l.session), 16) }

func newZooKeeperNode(flags int32) locktest.New {
	return func(env *locktest.Env) (locks.Lock, error) {
		session, err := zookeeper.Open(env.Base())
		if err != nil {
			return nil, err
		}
		return zooKeeperNode{session.Conn, locks.ZooKeeperPath(env.Key()), flags}, nil
	}
}

// TestPersistentNode fails.
func TestPersistentNode(t *testing.T) {
	config := locktest.Config{System: locks.ZooKeeper, Nodes: 3}
	runCases(t, config, newZooKeeperNode(zk.FlagPersistent), "holder-dies", "killed/work")
}

func TestEphemeralNode(t *testing.T) {
	config := locktest.Config{System: locks.ZooKeeper, Nodes: 3}
	runCases(t, config, newZooKeeperNode(zk.FlagEphemeral), "holder-dies", "killed/work")
}
