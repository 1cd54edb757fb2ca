// Package etcd provides the locks on etcd: those of package concurrency of
// go.etcd.io/etcd/client/v3, unmodified, in the ways in which they are used, and recipes of
// our own, which show what goes wrong without it. See [locks.Provide].
//
// A lock of one's own that is built on the client is made on [Client], or on what [Open]
// makes.
package etcd

import (
	"context"
	"fmt"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/locksim/locksim/locks"
	_ "github.com/locksim/locksim/servers/etcd" // what they are kept on
)

// The library's, as its documentation uses it.
func init() {
	provide("etcd", use{try: byLock})
	provide("etcd-trylock", use{try: byTryLock})
	provide("etcd-election", use{try: byCampaign})
}

// The library's, used in other ways.
func init() {
	provide("etcd-local", use{try: byLock, speaks: localClient})
	provide("etcd-shared-session", use{try: byLock, shares: true})
	provide("etcd-shared-session-close", use{try: byLock, shares: true, closes: true})
	provide("etcd-same-session", use{try: byLock, keeps: true})
	provide("etcd-version", use{try: byLockWithVersion})
	provide("etcd-election-version", use{try: byProclaiming})
}

// Ours.
func init() {
	provide("etcd-no-recheck", use{try: byQueue(waitInQueue)})
	provide("etcd-ask-owner", use{try: byQueue(askOwner)})
	provide("etcd-put-recipe", use{try: byPut(createdIn)})
	provide("etcd-put-recipe-mod", use{try: byPut(changedIn)})
	provide("etcd-look-then-put", use{try: byLookThenPut})
}

// A use is a way to lock.
type use struct {
	try attempt
	// speaks makes the client that its handles speak with; nil is [Client].
	speaks func(*locks.Env) (*clientv3.Client, error)
	// shares says that the handles of a process have one session, and not each its own.
	shares bool
	// keeps goes on with a session that is over, where others take a new one.
	keeps bool
	// closes says that a release ends the session.
	closes bool
}

// An attempt tries once to get a lock for a session.
type attempt func(ctx context.Context, l *lock, s *concurrency.Session) (grant, error)

// A grant is a lock that was got.
type grant struct {
	token   int64
	release func(context.Context) error
}

func provide(name string, u use) {
	if u.speaks == nil {
		u.speaks = Client
	}
	locks.Provide(name, func(e *locks.Env) (locks.Lock, error) {
		client, err := u.speaks(e)
		if err != nil {
			return nil, err
		}
		h, err := u.holder(e, client)
		if err != nil {
			return nil, err
		}
		d, err := keeps(e, client)
		if err != nil {
			return nil, err
		}
		return &lock{use: u, holder: h, data: d, env: e}, nil
	})
}

// lock is a handle.
type lock struct {
	use
	*holder
	*data
	env *locks.Env
	// terms counts what it has begun as a leader.
	terms int
}

// Acquire is as in [locks.Lock].
func (l *lock) Acquire(ctx context.Context) (locks.Lease, error) {
	ctx = Turn(ctx, l.env.Key)
	s, err := l.current(ctx)
	if err != nil {
		return nil, notAcquired(ctx, err)
	}
	g, err := l.try(ctx, l, s)
	if err != nil {
		return nil, notAcquired(ctx, err)
	}
	if l.closes || !l.env.Options.Has("unlock") {
		g.release = func(context.Context) error { return s.Close() }
	}
	if !l.env.Options.Has("loss-signal") {
		return &lease{s, g}, nil
	}
	return notifyingLease{&lease{s, g}}, nil
}

func byLock(ctx context.Context, l *lock, s *concurrency.Session) (grant, error) {
	m := concurrency.NewMutex(s, l.env.Key)
	if err := m.Lock(ctx); err != nil {
		return grant{}, err
	}
	return grant{createRevision(m), m.Unlock}, nil
}

func byTryLock(ctx context.Context, l *lock, s *concurrency.Session) (grant, error) {
	m := concurrency.NewMutex(s, l.env.Key)
	if err := m.TryLock(ctx); err != nil {
		return grant{}, err
	}
	return grant{createRevision(m), m.Unlock}, nil
}

// createRevision is the revision in which a mutex's key was made: by it the keys that wait
// for one lock are in order, and IsOwner compares it. Mutex.Header is the answer by which
// the lock was got; its revision is that of the store then, which grows from grant to
// grant too, but it would tell two holders apart who have one key.
func createRevision(m *concurrency.Mutex) int64 {
	owner := m.IsOwner()
	return owner.GetCompare().GetTargetUnion().(*pb.Compare_CreateRevision).CreateRevision
}

func byCampaign(ctx context.Context, l *lock, s *concurrency.Session) (grant, error) {
	election := concurrency.NewElection(s, l.env.Key)
	if err := election.Campaign(ctx, l.env.Client); err != nil {
		return grant{}, err
	}
	return grant{election.Rev(), election.Resign}, nil
}

// byLockWithVersion takes the wrong number for a token: how often the key was written since
// it was made, which begins anew with each holder's key.
func byLockWithVersion(ctx context.Context, l *lock, s *concurrency.Session) (grant, error) {
	m := concurrency.NewMutex(s, l.env.Key)
	if err := m.Lock(ctx); err != nil {
		return grant{}, err
	}
	token, err := l.version(ctx, m.Key())
	if err != nil {
		_ = m.Unlock(ctx) // if that fails too, the key stands as long as the session
		return grant{}, err
	}
	return grant{token, m.Unlock}, nil
}

// byProclaiming is the leader of an election for as long as its session lasts, whatever it
// does meanwhile, and proclaims each time that it begins something: to who leads already,
// Campaign does that. The version of its key, which that raises, it takes for a token.
func byProclaiming(ctx context.Context, l *lock, s *concurrency.Session) (grant, error) {
	l.terms++
	election := concurrency.NewElection(s, l.env.Key)
	if err := election.Campaign(ctx, fmt.Sprintf("%s, %d", l.env.Client, l.terms)); err != nil {
		return grant{}, err
	}
	token, err := l.version(ctx, election.Key())
	if err != nil {
		return grant{}, err
	}
	return grant{token, func(context.Context) error { return nil }}, nil
}

// version is how often a key was written since it was made.
func (l *lock) version(ctx context.Context, key string) (int64, error) {
	r, err := l.client.Get(ctx, key)
	switch {
	case err != nil:
		return 0, err
	case len(r.Kvs) == 0:
		return 0, concurrency.ErrSessionExpired
	}
	return r.Kvs[0].Version, nil
}
