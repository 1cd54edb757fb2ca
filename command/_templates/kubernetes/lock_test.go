package lock

import (
	"context"
	"errors"
	"strings"
	"testing"

	client "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/locksim/locksim/libraries/kubernetes"
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
		System:               locks.Kubernetes,
		Tokens:               true, // a lease has a fencing token
		ReportsLossAtRelease: true, // Release returns ErrLost
	}
	locktest.Run(t, config, func(env *locktest.Env) (locks.Lock, error) {
		config := kubernetes.Config(env.Base())
		config.Timeout = env.TTL() / 2 // of a request
		leases, err := client.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		namespace, name, _ := strings.Cut(locks.KubernetesLease(env.Key()), "/")
		return adapter{New(leases.Leases(namespace), name, env.Client(), env.TTL())}, nil
	})
}
