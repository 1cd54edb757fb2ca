package kubernetes_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/locksim/locksim/libraries/kubernetes"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
	"github.com/locksim/locksim/trackrecord/internal/proof"
)

// TestElection tests leader election by client-go through its adapter: once with ReleaseOnCancel,
// and once without. Without it, the caller releases the Lease when the election has ended.
func TestElection(t *testing.T) {
	elections, _ := locks.Lookup("kubernetes")
	config := locktest.Config{System: locks.Kubernetes, Slots: elections.Slots, Notifies: true, Tokens: true}
	proof.Run(t, config, elections.New,
		proof.Option{Name: "a release that looks whose it is", New: func(env *locks.Env) (locks.Lock, error) {
			env = env.ForKey(env.Key)
			env.Options.Without = slices.Concat(env.Options.Without, []string{"release-on-cancel"})
			l, err := elections.New(env)
			if err != nil {
				return nil, err
			}
			client, err := coordinationv1.NewForConfig(kubernetes.Config(env))
			return checkedElection{l, env, client}, err
		}})
}

// checkedElection is an election with the fix for the bug: it removes the holder's name
// from the Lease only if that name is its own. Otherwise it does what client-go does.
type checkedElection struct {
	locks.Lock
	env    *locks.Env
	leases coordinationv1.LeasesGetter
}

func (l checkedElection) Acquire(ctx context.Context) (locks.Lease, error) {
	got, err := l.Lock.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	namespace, name, _ := strings.Cut(locks.KubernetesLease(l.env.Key), "/")
	return checkedLease{got.(lease), &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: namespace, Name: name},
		Client:     l.leases,
		LockConfig: resourcelock.ResourceLockConfig{Identity: l.env.Client},
	}}, nil
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
	record *resourcelock.LeaseLock
}

func (l checkedLease) Release(ctx context.Context) error {
	if err := l.lease.Release(ctx); err != nil && !errors.Is(err, locks.ErrLost) {
		return err
	}
	is, _, err := l.record.Get(ctx)
	switch {
	case err != nil:
		return err
	case is.HolderIdentity != l.record.Identity():
		return fmt.Errorf("%w: %q leads", locks.ErrLost, is.HolderIdentity)
	}
	now := metav1.Now()
	return l.record.Update(ctx, resourcelock.LeaderElectionRecord{
		LeaderTransitions: is.LeaderTransitions, LeaseDurationSeconds: 1, AcquireTime: now, RenewTime: now,
	})
}
