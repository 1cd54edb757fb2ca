// Package lock is a lock on a Consul server.
package lock

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/consul/api"
)

// ErrNotAcquired is returned by Acquire if another client holds the lock, or if Consul's
// lock-delay keeps everybody from it for a while after a holder was lost.
var ErrNotAcquired = errors.New("lock not acquired")

// ErrLost is returned by Release if the lock was lost before: another client may hold it.
var ErrLost = errors.New("lock was lost")

// A Lock is a key of Consul. The client whose session is in the key holds the lock, until
// it takes the session out, or until the session ends.
type Lock struct {
	consul *api.Client
	key    string
	ttl    time.Duration
}

// New returns a handle on the lock with this key. A lease of it lasts for one TTL. Consul
// ends a session at the earliest after its TTL, and no session has less than 10 s.
func New(client *api.Client, key string, ttl time.Duration) *Lock {
	return &Lock{client, key, ttl}
}

// Acquire tries once to acquire the lock.
func (l *Lock) Acquire(ctx context.Context) (*Lease, error) {
	// The lease ends one TTL after this moment. The session is made later, so it ends later.
	lease := &Lease{lock: l, expires: time.Now().Add(l.ttl)}
	options := new(api.WriteOptions).WithContext(ctx)
	var err error
	lease.session, _, err = l.consul.Session().Create(&api.SessionEntry{TTL: l.ttl.String()}, options)
	if err != nil {
		return nil, err
	}
	acquired, _, err := l.consul.KV().Acquire(&api.KVPair{Key: l.key, Session: lease.session}, options)
	switch {
	case err == nil && acquired && time.Now().Before(lease.expires):
		return lease, nil
	case err == nil:
		err = ErrNotAcquired // another client has the key, or the answer arrived too late
	}
	// The session exists, and the key may have it although the answer is an error. ctx may
	// have ended.
	cleanUp, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.ttl)
	defer cancel()
	_ = lease.Release(cleanUp)
	return nil, err
}

// A Lease is the right to work under the lock. It ends one TTL after the call of Acquire.
type Lease struct {
	lock    *Lock
	session string
	expires time.Time
}

// Expires returns the end of the lease. The holder must have stopped its work by then.
func (l *Lease) Expires() time.Time { return l.expires }

// Release releases the lock and ends its session. It takes the session out of the key
// first: a session that ends with a lock keeps everybody from it for the lock-delay.
func (l *Lease) Release(ctx context.Context) error {
	options := new(api.WriteOptions).WithContext(ctx)
	released, _, err := l.lock.consul.KV().Release(&api.KVPair{Key: l.lock.key, Session: l.session}, options)
	if err != nil {
		return err // the session ends by itself
	}
	_, err = l.lock.consul.Session().Destroy(l.session, options)
	if err == nil && !released {
		err = ErrLost
	}
	return err
}
