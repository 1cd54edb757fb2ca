package sim_test

import (
	"context"

	"github.com/locksim/locksim/fakeclock"
	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/locks"
)

// renewingKind returns a test lock that renews its leases by itself and has no extend.
func renewingKind() locks.Kind {
	kind := ToyLock
	kind.Name = "renewing"
	kind.New = func(env *locks.Env) (locks.Lock, error) {
		lock, err := ToyLock.New(env)
		return &renewingLock{lock, env}, err
	}
	return kind
}

// A renewingLock is the lock of renewingKind.
type renewingLock struct {
	locks.Lock
	env *locks.Env
}

func (l *renewingLock) Acquire(ctx context.Context) (locks.Lease, error) {
	lease, err := l.Lock.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	r := &renewingLease{lease: lease, renewals: make(chan fakeclock.Reading, 1), lost: make(chan struct{})}
	ctx, r.end = context.WithCancel(l.env.Lifetime())
	go func() {
		defer close(r.renewals)
		for l.env.Clock.Sleep(ctx, l.env.TTL/3) == nil {
			if lease.(locks.Extender).Extend(ctx) != nil {
				close(r.lost)
				return
			}
			r.renewals <- r.Expires()
		}
	}()
	return r, nil
}

// A renewingLease renews lease in the background, until end is called.
type renewingLease struct {
	lease    locks.Lease
	renewals chan fakeclock.Reading
	lost     chan struct{}
	end      context.CancelFunc
}

func (r *renewingLease) Expires() fakeclock.Reading         { return r.lease.(locks.Expirer).Expires() }
func (r *renewingLease) Renewals() <-chan fakeclock.Reading { return r.renewals }
func (r *renewingLease) Lost() <-chan struct{}              { return r.lost }
func (r *renewingLease) Release(ctx context.Context) error {
	r.end()
	return r.lease.Release(ctx)
}
