// Package lock is a lock on Redis: a model solution of stage 4.
package lock

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// ErrNotAcquired is returned by Acquire if another client holds the lock.
var ErrNotAcquired = errors.New("lock not acquired")

// ErrLost is returned by Release if the lock was lost before.
var ErrLost = errors.New("lock was lost")

// A Lock is a client's handle on the lock with some key.
type Lock struct {
	nodes []*redis.Client
	key   string
	ttl   time.Duration
}

// New returns a handle on the lock with this key. There is one node until stage 5, and from
// stage 6 on there are five, which know nothing of each other. A lease lasts for one TTL.
func New(nodes []*redis.Client, key string, ttl time.Duration) *Lock {
	return &Lock{nodes, key, ttl}
}

// A Lease is the right to work under the lock.
type Lease struct {
	lock    *Lock
	value   string
	expires time.Time
}

// Expires returns the end of the lease. The holder must have stopped its work by then.
func (l *Lease) Expires() time.Time { return l.expires }

// Acquire tries once to acquire the lock. If another client holds it, Acquire does not wait.
func (l *Lock) Acquire(ctx context.Context) (*Lease, error) {
	// The key is set later than this moment, so it also expires later than the lease.
	lease := &Lease{l, rand.Text(), time.Now().Add(l.ttl)}
	set, err := l.nodes[0].SetNX(ctx, l.key, lease.value, l.ttl).Result()
	switch {
	case err == nil && !set:
		return nil, ErrNotAcquired
	case err == nil && time.Now().Before(lease.expires):
		return lease, nil
	case err == nil:
		err = ErrNotAcquired // the answer arrived when the lease had ended
	}
	// The key may be set although the answer is an error. ctx may have ended.
	cleanUp, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.ttl)
	defer cancel()
	_ = lease.Release(cleanUp)
	return nil, err
}

// removeOwn is a script that deletes KEYS[1] if its value is still ARGV[1], in one step.
var removeOwn = redis.NewScript(`
if redis.call("get", KEYS[1]) == ARGV[1] then
	return redis.call("del", KEYS[1])
end
return 0`)

// Release removes the key if it still has the value of this lease.
func (l *Lease) Release(ctx context.Context) error {
	removed, err := removeOwn.Run(ctx, l.lock.nodes[0], []string{l.lock.key}, l.value).Int()
	if err == nil && removed == 0 {
		err = ErrLost
	}
	return err
}
