// Package lock is a lock on an etcd cluster.
package lock

import (
	"context"
	"errors"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// ErrNotAcquired is returned by Acquire if another client holds the lock.
var ErrNotAcquired = errors.New("lock not acquired")

// A Lock is a key of etcd. The client that creates it holds the lock. The key belongs to a
// lease of etcd, with which it disappears.
type Lock struct {
	etcd *clientv3.Client
	key  string
	ttl  time.Duration
}

// New returns a handle on the lock with this key. A lease of it lasts for one TTL, and is
// not renewed. etcd counts TTLs in whole seconds, and rounds short ones up to its minimum.
func New(client *clientv3.Client, key string, ttl time.Duration) *Lock {
	return &Lock{client, key, ttl}
}

// Acquire tries once to acquire the lock.
func (l *Lock) Acquire(ctx context.Context) (*Lease, error) {
	// The lease ends one TTL after this moment. etcd's lease is granted later, so it also
	// ends later, as the seconds are rounded up.
	expires := time.Now().Add(l.ttl)
	seconds := int64((l.ttl + time.Second - 1) / time.Second)
	granted, err := l.etcd.Grant(ctx, seconds)
	if err != nil {
		return nil, err
	}
	lease := &Lease{lock: l, id: granted.ID, expires: expires}
	isFree := clientv3.Compare(clientv3.CreateRevision(l.key), "=", 0)
	created, err := l.etcd.Txn(ctx).If(isFree).Then(clientv3.OpPut(l.key, "", clientv3.WithLease(lease.id))).Commit()
	switch {
	case err == nil && created.Succeeded && time.Now().Before(expires):
		lease.token = uint64(created.Header.Revision)
		return lease, nil
	case err == nil:
		err = ErrNotAcquired // another client has the key, or the answer arrived too late
	}
	// The key may exist although the answer is an error. ctx may have ended.
	cleanUp, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.ttl)
	defer cancel()
	_ = lease.Release(cleanUp)
	return nil, err
}

// A Lease is the right to work under the lock. It ends one TTL after the call of Acquire.
type Lease struct {
	lock    *Lock
	id      clientv3.LeaseID
	token   uint64
	expires time.Time
}

// Expires returns the end of the lease. The holder must have stopped its work by then.
func (l *Lease) Expires() time.Time { return l.expires }

// Token returns the fencing token: the revision at which the key was created. It is greater
// than the token of each earlier lease.
func (l *Lease) Token() uint64 { return l.token }

// Release releases the lock. Revoking etcd's lease removes the key of this lease, and no
// other.
func (l *Lease) Release(ctx context.Context) error {
	_, err := l.lock.etcd.Revoke(ctx, l.id)
	return err
}
