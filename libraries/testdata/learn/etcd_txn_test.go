package learn

import (
	"context"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/locksim/locksim/libraries/etcd"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// etcdTxn puts the key in a transaction, and only if it does not exist.
type etcdTxn struct {
	client *clientv3.Client
	key    string
	ttl    time.Duration
}

func (l etcdTxn) Acquire(ctx context.Context) (locks.Lease, error) {
	lease, err := l.client.Grant(ctx, int64(l.ttl/time.Second))
	if err != nil {
		return nil, err
	}
	isFree := clientv3.Compare(clientv3.CreateRevision(l.key), "=", 0)
	put := clientv3.OpPut(l.key, "locked", clientv3.WithLease(lease.ID))
	answer, err := l.client.Txn(ctx).If(isFree).Then(put).Commit()
	if err == nil && !answer.Succeeded {
		err = locks.ErrNotAcquired
	}
	if err != nil {
		return nil, err
	}
	return etcdLease{l.client, lease.ID, uint64(answer.Header.Revision)}, nil
}

// Token returns the revision at which the key was created.
func (l etcdLease) Token() uint64 { return l.token }

func TestEtcdTxn(t *testing.T) {
	runCases(t, locktest.Config{System: locks.Etcd, Nodes: 3, Tokens: true}, func(env *locktest.Env) (locks.Lock, error) {
		client, err := etcd.Client(env.Base())
		return etcdTxn{client, env.Key(), env.TTL()}, err
	}, "undisturbed")
}
