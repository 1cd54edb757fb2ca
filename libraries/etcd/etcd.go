// Package etcd provides the locks on etcd: those of package concurrency of
// go.etcd.io/etcd/client/v3, unmodified, and a few recipes of our own, some of which are
// wrong on purpose. See [locks.Provide].
//
// A lock of one's own that is built on the client is made on [Client], or on what [Open]
// makes.
package etcd

import (
	"context"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/locksim/locksim/locks"
)

// An attempt tries once to get a lock for a session. It returns the token of the grant, and
// how to give it up.
type attempt func(ctx context.Context, l *lock, s *concurrency.Session) (token int64, release func(context.Context) error, err error)

// lock is any lock that hangs on a session.
type lock struct {
	*holder
	env *locks.Env
	try attempt
}

// Acquire is as in [locks.Lock].
func (l *lock) Acquire(ctx context.Context) (locks.Lease, error) {
	s, err := l.current(ctx)
	if err != nil {
		return nil, notAcquired(ctx, err)
	}
	token, release, err := l.try(ctx, l, s)
	if err != nil {
		return nil, notAcquired(ctx, err)
	}
	return &grant{session: s, token: uint64(token), release: release}, nil
}

// provide provides a lock whose handles have a session each.
func provide(name string, try attempt, settings ...func(*lock)) {
	locks.Provide(name, func(e *locks.Env) (locks.Lock, error) {
		client, err := Client(e)
		if err != nil {
			return nil, err
		}
		h, err := newHolder(e, client)
		if err != nil {
			return nil, err
		}
		l := &lock{holder: h, env: e, try: try}
		for _, set := range settings {
			set(l)
		}
		return l, nil
	})
}

func init() {
	provide("etcd", byLock)
	provide("etcd-trylock", byTryLock)
	provide("etcd-election", byCampaign)
}

func byLock(ctx context.Context, l *lock, s *concurrency.Session) (int64, func(context.Context) error, error) {
	m := concurrency.NewMutex(s, l.env.Key)
	if err := m.Lock(ctx); err != nil {
		return 0, nil, err
	}
	return createRevision(m), m.Unlock, nil
}

func byTryLock(ctx context.Context, l *lock, s *concurrency.Session) (int64, func(context.Context) error, error) {
	m := concurrency.NewMutex(s, l.env.Key)
	if err := m.TryLock(ctx); err != nil {
		return 0, nil, err
	}
	return createRevision(m), m.Unlock, nil
}

// createRevision is the revision in which a mutex's key was made: by it the keys that wait
// for one lock are in order, and IsOwner compares it. Mutex.Header is the answer by which
// the lock was got; its revision is that of the store then, which grows from grant to
// grant too, but it tells two holders apart whose key is one.
func createRevision(m *concurrency.Mutex) int64 {
	owner := m.IsOwner()
	return owner.GetCompare().GetTargetUnion().(*pb.Compare_CreateRevision).CreateRevision
}

func byCampaign(ctx context.Context, l *lock, s *concurrency.Session) (int64, func(context.Context) error, error) {
	election := concurrency.NewElection(s, l.env.Key)
	if err := election.Campaign(ctx, l.env.Client); err != nil {
		return 0, nil, err
	}
	return election.Rev(), election.Resign, nil
}
