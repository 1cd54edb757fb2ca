// Package redislock provides the locks redislock and redislock-defaults. Both are the lock
// of github.com/bsm/redislock, unmodified; they differ in the options of the Redis client.
// See [locks.Provide].
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
		"redislock":          locks.RedisClient,
		"redislock-defaults": locks.DefaultRedisClient,
	} {
		locks.Provide(name, func(e *locks.Env) (locks.Lock, error) {
			if len(e.Nodes) == 0 {
				return nil, errors.New(name + " needs a Redis node, but there is none")
			}
			return &lock{e.Key, e.TTL, redislock.New(client(e, 0))}, nil
		})
	}
}

// lock is redislock with its default options: an attempt is one try, and the value in the
// key is random.
type lock struct {
	key    string
	ttl    time.Duration
	client *redislock.Client
}

// Acquire makes one attempt.
func (l *lock) Acquire(ctx context.Context) (locks.Lease, error) {
	lock, err := l.client.Obtain(ctx, l.key, l.ttl, nil)
	if err != nil {
		why := reason(err, redislock.ErrNotObtained, "taken")
		return nil, answers.WithCause(ctx, fmt.Errorf("%w: redislock: %s", locks.ErrNotAcquired, why))
	}
	return &lease{lock, l.ttl}, nil
}

// A lease does not declare when it ends. redislock does not measure the time itself; it can
// only ask the node how much time the key has left.
type lease struct {
	lock *redislock.Lock
	ttl  time.Duration
}

// Release returns locks.ErrLost if the key no longer belongs to this lease. With go-redis's
// defaults, it may also return that after a release that succeeded: if the response is
// lost, go-redis sends the request again, and the key is already deleted.
func (l *lease) Release(ctx context.Context) error {
	return failure(ctx, l.lock.Release(ctx), redislock.ErrLockNotHeld, "released")
}

// Extend gives the key its whole TTL again.
func (l *lease) Extend(ctx context.Context) error {
	return failure(ctx, l.lock.Refresh(ctx, l.ttl, nil), redislock.ErrNotObtained, "extended")
}

// failure turns the error of a release or an extension into an error of this package; nil remains
// nil. errGone is redislock's error for a key that no longer belongs to the lease, and done is what
// has failed: "released" or "extended".
func failure(ctx context.Context, err, errGone error, done string) error {
	if err == nil {
		return nil
	}
	what := fmt.Errorf("redislock: not %s: %s", done, reason(err, errGone, "gone"))
	if errors.Is(err, errGone) {
		return fmt.Errorf("%w: %w", locks.ErrLost, what)
	}
	return answers.WithCause(ctx, what)
}

// reason returns why a request failed, in words that are equal in every run. If err is refusal,
// redislock's error for a request that the node has refused, reason returns refusalText.
func reason(err, refusal error, refusalText string) string {
	if errors.Is(err, refusal) {
		return refusalText
	}
	return answers.Reason(err)
}
