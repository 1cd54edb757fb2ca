// Package lock is a lock on one Redis server.
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

// ErrLost is returned by Release if the lock was lost before: another client may hold it.
var ErrLost = errors.New("lock was lost")

// A Lock is a key of Redis. The client that sets it, to a value of its own, holds the lock,
// until it removes the key, or until the key expires.
type Lock struct {
	redis *redis.Client
	key   string
	ttl   time.Duration
}

// New returns a handle on the lock with this key. A lease of it lasts for one TTL.
func New(client *redis.Client, key string, ttl time.Duration) *Lock {
	return &Lock{client, key, ttl}
}

// Acquire tries once to acquire the lock.
func (l *Lock) Acquire(ctx context.Context) (*Lease, error) {
	// The lease ends one TTL after this moment. The key is set later, so it expires later.
	lease := &Lease{l, rand.Text(), time.Now().Add(l.ttl)}
	set, err := l.redis.SetNX(ctx, l.key, lease.value, l.ttl).Result()
	switch {
	case err == nil && !set:
		return nil, ErrNotAcquired
	case err == nil && time.Now().Before(lease.expires):
		return lease, nil
	case err == nil:
		err = ErrNotAcquired // the answer arrived too late
	}
	// The key may be set although the answer is an error. ctx may have ended.
	cleanUp, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.ttl)
	defer cancel()
	_ = lease.Release(cleanUp)
	return nil, err
}

// A Lease is the right to work under the lock. It ends one TTL after the call of Acquire.
type Lease struct {
	lock    *Lock
	value   string
	expires time.Time
}

// Expires returns the end of the lease. The holder must have stopped its work by then.
func (l *Lease) Expires() time.Time { return l.expires }

// removeOwn removes a key only if it still has the value with which this lease has set it.
var removeOwn = redis.NewScript(`
if redis.call("get", KEYS[1]) == ARGV[1] then
	return redis.call("del", KEYS[1])
end
return 0`)

// Release releases the lock.
func (l *Lease) Release(ctx context.Context) error {
	removed, err := removeOwn.Run(ctx, l.lock.redis, []string{l.lock.key}, l.value).Int()
	if err == nil && removed == 0 {
		err = ErrLost
	}
	return err
}
