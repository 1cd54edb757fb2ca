// Package lock is a lock that is a Lease of Kubernetes.
package lock

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	coordination "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	client "k8s.io/client-go/kubernetes/typed/coordination/v1"
)

// ErrNotAcquired is returned by Acquire if another client holds the lock.
var ErrNotAcquired = errors.New("lock not acquired")

// ErrLost is returned by Release if the lock was lost before: another client may hold it.
var ErrLost = errors.New("lock was lost")

// A Lock is a Lease object of Kubernetes. The API server does not end leases: each client
// sees for itself how long a Lease has not changed. So the clocks of two machines are never
// compared.
type Lock struct {
	leases   client.LeaseInterface
	name     string
	identity string
	ttl      time.Duration

	mu sync.Mutex
	// seen is the version of the Lease that this client has seen last, and since when.
	seen  string
	since time.Time
}

// New returns a handle on the lock with this name. identity is the name of this process,
// which no other process has. A lease of the lock lasts for one TTL, in whole seconds.
func New(leases client.LeaseInterface, name, identity string, ttl time.Duration) *Lock {
	return &Lock{leases: leases, name: name, identity: identity, ttl: ttl}
}

// Acquire tries once to acquire the lock. A Lease whose holder has disappeared can be
// acquired by a client that has seen it unchanged for as long as it lasts, so by a second
// call at the earliest.
func (l *Lock) Acquire(ctx context.Context) (*Lease, error) {
	// The lease ends one TTL after this moment. Other clients see the change later, and wait
	// from then on.
	lease := &Lease{lock: l, holder: l.identity + "/" + rand.Text(), expires: time.Now().Add(l.ttl)}
	old, err := l.leases.Get(ctx, l.name, meta.GetOptions{})
	isNew := apierrors.IsNotFound(err)
	switch {
	case isNew:
		old = &coordination.Lease{ObjectMeta: meta.ObjectMeta{Name: l.name}}
	case err != nil:
		return nil, err
	case !l.isFree(old):
		return nil, ErrNotAcquired
	}
	wanted := old.DeepCopy()
	seconds := int32((l.ttl + time.Second - 1) / time.Second)
	now := meta.NowMicro()
	grants := deref(old.Spec.LeaseTransitions) + 1
	wanted.Spec = coordination.LeaseSpec{
		HolderIdentity: &lease.holder, LeaseDurationSeconds: &seconds,
		AcquireTime: &now, RenewTime: &now, LeaseTransitions: &grants,
	}
	if isNew {
		lease.written, err = l.leases.Create(ctx, wanted, meta.CreateOptions{})
	} else {
		// The server refuses this if the Lease has changed since it was read.
		lease.written, err = l.leases.Update(ctx, wanted, meta.UpdateOptions{})
	}
	switch {
	case err == nil && time.Now().Before(lease.expires):
		return lease, nil
	case err == nil:
		err = ErrNotAcquired // the answer arrived too late
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		return nil, ErrNotAcquired // another client was quicker
	}
	// The Lease may have this holder although the answer is an error. ctx may have ended.
	cleanUp, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.ttl)
	defer cancel()
	_ = lease.Release(cleanUp)
	return nil, err
}

// isFree reports whether nobody holds a Lease any more.
func (l *Lock) isFree(lease *coordination.Lease) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seen != lease.ResourceVersion {
		l.seen, l.since = lease.ResourceVersion, time.Now()
	}
	lasts := time.Duration(deref(lease.Spec.LeaseDurationSeconds)) * time.Second
	return deref(lease.Spec.HolderIdentity) == "" || time.Since(l.since) > lasts
}

// A Lease is the right to work under the lock. It ends one TTL after the call of Acquire.
type Lease struct {
	lock    *Lock
	holder  string
	written *coordination.Lease // what the server has answered; nil after an error
	expires time.Time
}

// Expires returns the end of the lease. The holder must have stopped its work by then.
func (l *Lease) Expires() time.Time { return l.expires }

// Token returns the fencing token: how many leases there have been. It grows as long as
// nobody deletes the Lease.
func (l *Lease) Token() uint64 { return uint64(deref(l.written.Spec.LeaseTransitions)) }

// Release releases the lock: it removes the holder from the Lease, if it is still this one.
func (l *Lease) Release(ctx context.Context) error {
	current, err := l.lock.leases.Get(ctx, l.lock.name, meta.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return ErrLost
	case err != nil:
		return err
	case deref(current.Spec.HolderIdentity) != l.holder:
		return ErrLost
	}
	current.Spec.HolderIdentity = new(string)
	_, err = l.lock.leases.Update(ctx, current, meta.UpdateOptions{})
	if apierrors.IsConflict(err) {
		return ErrLost // another client has changed it since it was read
	}
	return err
}

// deref returns what p points to, or the zero value if p is nil.
func deref[T any](p *T) (value T) {
	if p != nil {
		value = *p
	}
	return value
}
