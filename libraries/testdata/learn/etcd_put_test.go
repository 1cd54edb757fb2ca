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

// etcdPut puts the key, and never looks if it exists.
type etcdPut struct {
	client *clientv3.Client
	key    string
	ttl    time.Duration
}

func (l etcdPut) Acquire(ctx context.Context) (locks.Lease, error) {
	lease, err := l.client.Grant(ctx, int64(l.ttl/time.Second))
	if err != nil {
		return nil, err
	}
	_, err = l.client.Put(ctx, l.key, "locked", clientv3.WithLease(lease.ID))
	return etcdLease{client: l.client, id: lease.ID}, err
}

// etcdLease is a grant, which ends with a lease of etcd.
type etcdLease struct {
	client *clientv3.Client
	id     clientv3.LeaseID
	token  uint64
}

// Release ends the lease, and the key with it.
func (l etcdLease) Release(ctx context.Context) error {
	_, err := l.client.Revoke(ctx, l.id)
	return err
}

func TestEtcdPut(t *testing.T) {
	runCases(t, locktest.Config{System: locks.Etcd, Nodes: 3}, func(env *locktest.Env) (locks.Lock, error) {
		client, err := etcd.Client(env.Base())
		return etcdPut{client, env.Key(), env.TTL()}, err
	}, "undisturbed")
}
