package lock

import (
	"context"
	"errors"
	"testing"

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
		ReportsLossAtRelease: true, // Release returns ErrLost
	}
	locktest.Run(t, config, func(env *locktest.Env) (locks.Lock, error) {
		return adapter{New(env.Redis(0), env.Key(), env.TTL())}, nil
	})
}
