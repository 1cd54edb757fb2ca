// Package redsync provides the locks redsync, redsync-retrying and redsync-defaults. All
// are the lock of github.com/go-redsync/redsync/v4, unmodified. They differ in whether an
// attempt retries, and in the options of the Redis client. See [locks.Provide].
package redsync

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"time"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/internal/answers"
	"github.com/locksim/locksim/internal/expiry"
	"github.com/locksim/locksim/locks"
)

func init() {
	for _, k := range []struct {
		name   string
		client func(*locks.Env, int) *redis.Client
		lock   func(*redsync.Mutex, context.Context) error
	}{
		{"redsync", locks.RedisClient, (*redsync.Mutex).TryLockContext},
		{"redsync-retrying", locks.RedisClient, (*redsync.Mutex).LockContext},
		{"redsync-defaults", locks.DefaultRedisClient, (*redsync.Mutex).LockContext},
	} {
		locks.Provide(k.name, func(e *locks.Env) (locks.Lock, error) {
			if len(e.Nodes) == 0 {
				return nil, errors.New(k.name + " needs Redis nodes, but there are none")
			}
			var pools []redsyncredis.Pool
			for i := range e.Nodes {
				pools = append(pools, goredis.NewPool(k.client(e, i)))
			}
			return &lock{e, redsync.New(pools...), k.lock}, nil
		})
	}
}

// lock is redsync with its defaults. The func attempt makes one attempt to acquire: either
// redsync's LockContext, which retries, or TryLockContext, which does not, so that the
// caller decides when to try again.
type lock struct {
	env     *locks.Env
	redsync *redsync.Redsync
	attempt func(*redsync.Mutex, context.Context) error
}

// Acquire makes one attempt.
func (l *lock) Acquire(ctx context.Context) (locks.Lease, error) {
	m := l.redsync.NewMutex(l.env.Key, redsync.WithExpiry(l.env.TTL), redsync.WithRetryDelayFunc(l.delay))
	if err := l.attempt(m, ctx); err != nil {
		replies := repliesIn(err)
		return nil, answers.WithCause(ctx, fmt.Errorf("%w: redsync did not get a quorum in time%s", locks.ErrNotAcquired, replies.Refusals("taken")))
	}
	return &lease{m, len(l.env.Nodes), expiry.At(expiryOf(m))}, nil
}

// delay returns how long redsync waits between two tries: 50 ms to 250 ms, as by default. The time
// is drawn from the process's source of random numbers. redsync itself draws from a source that the
// whole program shares, so two runs of one world (a simulation) would differ.
func (l *lock) delay(int) time.Duration {
	var random [8]byte
	_, _ = io.ReadFull(l.env.Rand, random[:]) // never fails
	// The upper half of the product is an integer below 200 ms.
	more, _ := bits.Mul64(binary.BigEndian.Uint64(random[:]), uint64(200*time.Millisecond))
	return 50*time.Millisecond + time.Duration(more)
}

// A lease ends at the time that redsync calls Until, by the wall clock.
type lease struct {
	mutex *redsync.Mutex
	nodes int
	expiry.End
}

// expiryOf returns the time at which redsync believes that the lock expires. redsync
// computes it from time.Now. In a simulated world, that is true time, not the process's own
// clock.
func expiryOf(m *redsync.Mutex) fakeclock.Reading {
	return fakeclock.Reading{Clock: fakeclock.Wall, Nanos: m.Until().UnixNano()}
}

// Release deletes the keys.
func (l *lease) Release(ctx context.Context) error {
	if ok, err := l.mutex.UnlockContext(ctx); !ok {
		return l.failure(ctx, err, "released")
	}
	return nil
}

// Extend gives the keys their whole TTL again.
func (l *lease) Extend(ctx context.Context) error {
	if ok, err := l.mutex.ExtendContext(ctx); !ok {
		return l.failure(ctx, err, "extended")
	}
	l.MoveTo(expiryOf(l.mutex))
	return nil
}

// failure returns an error of redsync in words that do not depend on the order in which
// nodes answered. done is what has failed: "released" or "extended". The error wraps
// locks.ErrLost if the replies show that fewer nodes than a quorum can have had the key, or
// if the extension came too late.
func (l *lease) failure(ctx context.Context, err error, done string) error {
	replies := repliesIn(err)
	keyless := 0 // the nodes that have replied that they do not have the key
	for _, answer := range replies {
		if answer.Err == nil {
			keyless++
		}
	}
	keyless += countExpired(err)
	what := "redsync: not " + done + replies.Refusals("gone")
	if l.nodes-keyless < l.nodes/2+1 || errors.Is(err, redsync.ErrExtendFailed) {
		return fmt.Errorf("%w: %s", locks.ErrLost, what)
	}
	return answers.WithCause(ctx, errors.New(what))
}

// repliesIn returns the replies of the nodes that are contained in an error of redsync, in
// a fixed order. redsync joins them in the order in which they arrived.
func repliesIn(err error) answers.Answers {
	var replies answers.Answers
	walk(err, func(err error) {
		switch err := err.(type) {
		case *redsync.ErrTaken:
			for _, node := range err.Nodes {
				replies = append(replies, answers.Answer{Node: node})
			}
		case *redsync.ErrNodeTaken:
			replies = append(replies, answers.Answer{Node: err.Node})
		case *redsync.RedisError:
			replies = append(replies, answers.Answer{Node: err.Node, Err: err.Err})
		}
	})
	replies.Sort()
	return replies
}

// countExpired returns on how many nodes the key had expired. redsync does not say on which
// nodes.
func countExpired(err error) (nodes int) {
	walk(err, func(err error) {
		if err == redsync.ErrLockAlreadyExpired {
			nodes++
		}
	})
	return nodes
}

// walk calls visit for each of the errors that were joined into one.
func walk(err error, visit func(error)) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range joined.Unwrap() {
			walk(err, visit)
		}
		return
	}
	visit(err)
}
