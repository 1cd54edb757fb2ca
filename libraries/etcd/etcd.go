// Package etcd provides the locks on etcd. Some are those of package concurrency of
// go.etcd.io/etcd/client/v3, unmodified, in the ways in which people use them. The others
// are recipes of our own, which show what goes wrong without that package. See
// [locks.Provide].
//
// Build your own lock on the client that [Client] or [Open] returns.
package etcd

import (
	"context"
	"fmt"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/locksim/locksim/locks"
	_ "github.com/locksim/locksim/servers/etcd" // the server that keeps the locks
)

// These locks use the library. Options switch features off, for uses that differ from
// etcd's documentation.
func init() {
	provide("etcd", byLock)
	provide("etcd-trylock", byTryLock)
	provide("etcd-election", byCampaign)
	provide("etcd-election-version", byProclaiming)
}

// These locks do not use the library's Mutex or Election.
func init() {
	provide("etcd-no-recheck", byQueue(waitInQueue))
	provide("etcd-ask-owner", byQueue(askOwner))
	provide("etcd-put-recipe", byPut(createRevisionOf))
	provide("etcd-put-recipe-mod", byPut(modRevisionOf))
	provide("etcd-look-then-put", byLookThenPut)
}

// An attempt tries once to acquire a lock for a session.
type attempt func(ctx context.Context, l *lock, s *concurrency.Session) (grant, error)

// A grant is what an attempt returns if it has acquired the lock.
type grant struct {
	token   int64
	release func(context.Context) error
	// ownerCondition is the condition of a transaction that is to be done only while the
	// lock's key exists. It is the zero Cmp for a recipe that has no key of its own.
	ownerCondition clientv3.Cmp
}

// provide registers a kind of lock whose attempts are done by try.
func provide(name string, try attempt) {
	locks.Provide(name, func(e *locks.Env) (locks.Lock, error) {
		newClient := Client
		if !e.Options.Has("all-endpoints") {
			newClient = localClient
		}
		client, err := newClient(e)
		if err != nil {
			return nil, err
		}
		h, err := newHolder(e, client)
		if err != nil {
			return nil, err
		}
		d, err := newData(e, client)
		if err != nil {
			return nil, err
		}
		return &lock{try: try, holder: h, data: d, env: e}, nil
	})
}

// A lock is a handle on a lock.
type lock struct {
	try attempt
	*holder
	*data
	env *locks.Env
	// terms counts the critical sections that the handle has begun as a leader.
	terms int
}

// Acquire implements [locks.Lock].
func (l *lock) Acquire(ctx context.Context) (locks.Lease, error) {
	ctx = turn(ctx, l.env.Key)
	s, err := l.currentSession(ctx)
	if err != nil {
		return nil, notAcquired(ctx, err)
	}
	g, err := l.try(ctx, l, s)
	if err != nil {
		return nil, notAcquired(ctx, err)
	}
	if l.data != nil {
		l.data.ownerCondition = g.ownerCondition
	}
	if !l.env.Options.Has("unlock") {
		g.release = func(context.Context) error { return s.Close() }
	}
	if !l.env.Options.Has("loss-signal") {
		return &lease{s, g}, nil
	}
	return notifyingLease{&lease{s, g}}, nil
}

// byLock acquires the library's Mutex, and waits for it.
func byLock(ctx context.Context, l *lock, s *concurrency.Session) (grant, error) {
	m := concurrency.NewMutex(s, l.env.Key)
	if err := m.Lock(ctx); err != nil {
		return grant{}, err
	}
	if l.env.Options.Has("revision-token") {
		return grant{createRevision(m), m.Unlock, m.IsOwner()}, nil
	}
	// The version of the key is wrong as a token. It counts the writes of the key since the
	// key's creation, so it begins with 1 for each holder.
	token, err := l.version(ctx, m.Key())
	if err != nil {
		_ = m.Unlock(ctx) // if that fails too, the key exists until the session ends
		return grant{}, err
	}
	return grant{token, m.Unlock, m.IsOwner()}, nil
}

// byTryLock acquires the library's Mutex if it is free.
func byTryLock(ctx context.Context, l *lock, s *concurrency.Session) (grant, error) {
	m := concurrency.NewMutex(s, l.env.Key)
	if err := m.TryLock(ctx); err != nil {
		return grant{}, err
	}
	return grant{createRevision(m), m.Unlock, m.IsOwner()}, nil
}

// createRevision returns the create revision of a mutex's key. It orders the keys that wait
// for one lock, and IsOwner compares it. The revision in Mutex.Header would also grow from
// grant to grant: it is the revision of the response that granted the lock. But it would
// differ for two holders that share one key.
func createRevision(m *concurrency.Mutex) int64 {
	owner := m.IsOwner()
	return owner.GetCompare().GetTargetUnion().(*pb.Compare_CreateRevision).CreateRevision
}

// byCampaign waits until the client is elected as the leader.
func byCampaign(ctx context.Context, l *lock, s *concurrency.Session) (grant, error) {
	election := concurrency.NewElection(s, l.env.Key)
	if err := election.Campaign(ctx, l.env.Client); err != nil {
		return grant{}, err
	}
	return grant{election.Rev(), election.Resign, leaderCondition(election)}, nil
}

// leaderCondition returns the condition that a client still leads. Proclaim and Resign use
// this condition, as IsOwner returns it for the holder of a Mutex.
func leaderCondition(e *concurrency.Election) clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(e.Key()), "=", e.Rev())
}

// byProclaiming leads an election for as long as its session lasts, and proclaims a new
// value for each section. It does so by calling Campaign again, which proclaims if the
// client already leads. The token is the version of the client's key, which grows with each
// proclamation.
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
	return grant{token, func(context.Context) error { return nil }, leaderCondition(election)}, nil
}

// version returns how often a key has been written since its creation.
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
