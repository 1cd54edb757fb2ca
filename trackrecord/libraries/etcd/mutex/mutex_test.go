package mutex_test

import (
	"context"
	"fmt"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/locksim/locksim/libraries/etcd"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
	"github.com/locksim/locksim/trackrecord/internal/proof"
)

// TestMutex tests the client's Mutex through its adapter.
func TestMutex(t *testing.T) {
	mutexes, _ := locks.Lookup("etcd")
	config := locktest.Config{System: locks.Etcd, Notifies: true, Tokens: true}
	proof.Run(t, config, mutexes.New,
		proof.Option{Name: "an Unlock that asks IsOwner", New: func(env *locks.Env) (locks.Lock, error) {
			l, err := mutexes.New(env)
			if err != nil {
				return nil, err
			}
			client, err := etcd.Client(env)
			return checkedMutex{l, env.Key, client}, err
		}})
}

// checkedMutex is a mutex with the fix for the bug: it releases the lock in a transaction.
// The transaction deletes the key only if it is the key that was created for this lease,
// which is what IsOwner checks.
type checkedMutex struct {
	locks.Lock
	key    string
	client *clientv3.Client
}

func (l checkedMutex) Acquire(ctx context.Context) (locks.Lease, error) {
	got, err := l.Lock.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	of := got.(lease)
	return checkedLease{of, l.client, l.key + "/" + of.Session()}, nil
}

// A lease is what the adapter returns for a grant.
type lease interface {
	locks.Lease
	locks.Sessioner
	locks.Tokener
	locks.Notifier
}

type checkedLease struct {
	lease
	client *clientv3.Client
	key    string
}

func (l checkedLease) Release(ctx context.Context) error {
	done, err := l.client.Txn(ctx).
		If(clientv3.Compare(clientv3.CreateRevision(l.key), "=", int64(l.Token()))).
		Then(clientv3.OpDelete(l.key)).
		Commit()
	switch {
	case err != nil:
		return err
	case !done.Succeeded:
		return fmt.Errorf("%w: its key is gone, or another one", locks.ErrLost)
	}
	return nil
}
