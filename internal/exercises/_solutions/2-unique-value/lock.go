// Package lock is a lock on Redis: a model solution of stage 2.
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
	value := rand.Text()
	set, err := l.nodes[0].SetNX(ctx, l.key, value, l.ttl).Result()
	if err != nil {
		return nil, err
	}
	if !set {
		return nil, ErrNotAcquired
	}
	return &Lease{l, value, time.Now().Add(l.ttl)}, nil
}

// Release removes the key if it still has the value of this lease.
func (l *Lease) Release(ctx context.Context) error {
	value, err := l.lock.nodes[0].Get(ctx, l.lock.key).Result()
	if errors.Is(err, redis.Nil) || err == nil && value != l.value {
		return ErrLost
	}
	if err != nil {
		return err
	}
	return l.lock.nodes[0].Del(ctx, l.lock.key).Err()
}
