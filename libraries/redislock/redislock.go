// Package redislock provides the locks redislock and redislock-defaults:
// github.com/bsm/redislock, unmodified. See [locks.Provide].
package redislock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"

	"github.com/locksim/locksim/internal/answers"
	"github.com/locksim/locksim/locks"
)

func init() {
	for name, client := range map[string]func(*locks.Env, int) *redis.Client{
		"redislock":          (*locks.Env).Redis,
		"redislock-defaults": (*locks.Env).RedisDefaults,
	} {
		locks.Provide(name, func(e *locks.Env) (locks.Lock, error) {
			if len(e.Nodes) == 0 {
				return nil, errors.New(name + " needs a Redis node, but there is none")
			}
			return &lock{e.Key, e.TTL, redislock.New(client(e, 0))}, nil
		})
	}
}

// lock is redislock without options: it does not retry, and its values are random.
type lock struct {
	key    string
	ttl    time.Duration
	client *redislock.Client
}

func (l *lock) Acquire(ctx context.Context) (locks.Lease, error) {
	lock, err := l.client.Obtain(ctx, l.key, l.ttl, nil)
	if err != nil {
		why := reason(err, redislock.ErrNotObtained, "taken")
		return nil, answers.WithCause(ctx, fmt.Errorf("%w: redislock: %s", locks.ErrNotAcquired, why))
	}
	return &lease{lock, l.ttl}, nil
}

// lease does not declare when it ends: redislock does not count time itself; it only asks
// the node how much time is left.
type lease struct {
	lock *redislock.Lock
	ttl  time.Duration
}

// Release returns locks.ErrLost if the key is not the lease's any more. With go-redis's
// defaults, that is also the result when the node's answer was lost and the request is sent
// again: it finds the key gone.
func (l *lease) Release(ctx context.Context) error {
	return failure(ctx, l.lock.Release(ctx), redislock.ErrLockNotHeld, "released")
}

func (l *lease) Extend(ctx context.Context) error {
	return failure(ctx, l.lock.Refresh(ctx, l.ttl, nil), redislock.ErrNotObtained, "extended")
}

// failure returns the error of a request about a key that has been set, or nil if there is
// none. gone is redislock's error for a key that is gone.
func failure(ctx context.Context, err, gone error, done string) error {
	if err == nil {
		return nil
	}
	what := fmt.Errorf("redislock: not %s: %s", done, reason(err, gone, "gone"))
	if errors.Is(err, gone) {
		return fmt.Errorf("%w: %w", locks.ErrLost, what)
	}
	return answers.WithCause(ctx, what)
}

// reason returns why a request failed, in words that do not depend on chance: word if err
// is refusal, redislock's error for a node's refusal.
func reason(err, refusal error, word string) string {
	if errors.Is(err, refusal) {
		return word
	}
	return answers.Reason(err)
}
