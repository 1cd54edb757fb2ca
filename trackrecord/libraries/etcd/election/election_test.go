package election_test

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

// TestElection tests the client's elections through the adapter, which makes the client
// work in a simulated world.
func TestElection(t *testing.T) {
	elections, _ := locks.Lookup("etcd-election")
	config := locktest.Config{System: locks.Etcd, Notifies: true, Tokens: true}
	proof.Run(t, config, elections.New,
		proof.Option{Name: "a look at its own key", New: func(env *locks.Env) (locks.Lock, error) {
			l, err := elections.New(env)
			if err != nil {
				return nil, err
			}
			client, err := etcd.Client(env)
			return checkedElection{l, env.Key, client}, err
		}})
}

// checkedElection is an election with the fix for the bug. After waiting it checks that its
// own key still exists. Mutex.Lock in the same package does that, but Campaign does not.
type checkedElection struct {
	locks.Lock
	key    string
	client *clientv3.Client
}

func (l checkedElection) Acquire(ctx context.Context) (locks.Lease, error) {
	elected, err := l.Lock.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	place := l.key + "/" + elected.(locks.Sessioner).Session()
	found, err := l.client.Get(ctx, place)
	if err == nil && len(found.Kvs) > 0 && uint64(found.Kvs[0].CreateRevision) == elected.(locks.Tokener).Token() {
		return elected, nil
	}
	_ = elected.Release(l.client.Ctx()) // the key may exist although the check failed, if only the answer was lost
	return nil, fmt.Errorf("%w: elected without a key", locks.ErrNotAcquired)
}
