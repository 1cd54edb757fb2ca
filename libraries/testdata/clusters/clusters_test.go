package clusters

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/locksim/locksim/libraries/etcd"
	"github.com/locksim/locksim/libraries/zookeeper"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// onEtcd is a lock that is held by a key, which exists as long as a lease of etcd that no client renews.
type onEtcd struct {
	client *clientv3.Client
	key    string
	ttl    time.Duration
}

func (l onEtcd) Acquire(ctx context.Context) (locks.Lease, error) {
	lease, err := l.client.Grant(ctx, int64(l.ttl/time.Second))
	if err != nil {
		return nil, err
	}
	free := clientv3.Compare(clientv3.CreateRevision(l.key), "=", 0)
	put, err := l.client.Txn(ctx).If(free).Then(clientv3.OpPut(l.key, "locked", clientv3.WithLease(lease.ID))).Commit()
	if err == nil && !put.Succeeded {
		err = locks.ErrNotAcquired
	}
	return leased{l.client, lease.ID}, err
}

type leased struct {
	client *clientv3.Client
	id     clientv3.LeaseID
}

func (l leased) Release(ctx context.Context) error {
	_, err := l.client.Revoke(ctx, l.id)
	return err
}

func TestOnEtcd(t *testing.T) {
	config := locktest.Config{System: locks.Etcd, Nodes: 3}
	locktest.Run(t, config, func(env *locktest.Env) (locks.Lock, error) {
		client, err := etcd.Client(env.Base()) // etcd.Open takes settings of your own
		return onEtcd{client, env.Key(), env.TTL()}, err
	})
}

// onZooKeeper is a lock that is held by a znode, which exists as long as its creator's session.
type onZooKeeper struct {
	conn *zk.Conn
	path string
}

func (l onZooKeeper) Acquire(ctx context.Context) (locks.Lease, error) {
	session := l.conn.SessionID()
	_, err := l.conn.Create(l.path, nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
	if errors.Is(err, zk.ErrNodeExists) {
		err = locks.ErrNotAcquired
	}
	return ephemeral{l, session}, err
}

type ephemeral struct {
	onZooKeeper
	session int64
}

func (l ephemeral) Release(ctx context.Context) error { return l.conn.Delete(l.path, -1) }

// Session returns the identifier of the session, as the servers write it. The lease lasts as
// long as this session.
func (l ephemeral) Session() string { return strconv.FormatUint(uint64(l.session), 16) }

func TestOnZooKeeper(t *testing.T) {
	config := locktest.Config{System: locks.ZooKeeper, Nodes: 3}
	locktest.Run(t, config, func(env *locktest.Env) (locks.Lock, error) {
		session, err := zookeeper.Open(env.Base())
		if err != nil {
			return nil, err
		}
		return onZooKeeper{session.Conn, locks.ZooKeeperPath(env.Key())}, nil
	})
}
