package locks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bsm/redislock"
)

func init() {
	for _, k := range []struct {
		name, title string
		profile     profile
	}{
		{"redislock", "github.com/bsm/redislock, unmodified: strict go-redis", strict},
		{"redislock-defaults", "github.com/bsm/redislock, unmodified: go-redis's own defaults", deployed},
	} {
		Register(Kind{
			Name:  k.name,
			Title: k.title,
			Slots: onFirstNode,
			New: func(e *Env) (Lock, error) {
				if len(e.Nodes) == 0 {
					return nil, errors.New(k.name + " needs a Redis node, but there is none")
				}
				return &redislockLock{e.Key, e.TTL, redislock.New(k.profile(e, 0))}, nil
			},
		})
	}
}

// redislockLock is redislock without options: it does not retry, and its values
// are random.
type redislockLock struct {
	key    string
	ttl    time.Duration
	client *redislock.Client
}

func (l *redislockLock) Acquire(ctx context.Context) (Lease, error) {
	lock, err := l.client.Obtain(ctx, l.key, l.ttl, nil)
	if err != nil {
		said := redislockSaid(err, redislock.ErrNotObtained, "taken")
		return nil, because(ctx, fmt.Errorf("%w: redislock: %s", ErrNotAcquired, said))
	}
	return &redislockLease{lock, l.ttl}, nil
}

// redislockLease does not say when it ends: redislock keeps no time, it only asks
// the node for what is left.
type redislockLease struct {
	lock *redislock.Lock
	ttl  time.Duration
}

// Release returns ErrLost if the key is not the lease's any more. That is also
// what go-redis's defaults come to when the node's answer was lost and the request
// is sent again: it finds the key gone.
func (l *redislockLease) Release(ctx context.Context) error {
	return redislockFailure(ctx, l.lock.Release(ctx), redislock.ErrLockNotHeld, "released")
}

func (l *redislockLease) Extend(ctx context.Context) error {
	return redislockFailure(ctx, l.lock.Refresh(ctx, l.ttl, nil), redislock.ErrNotObtained, "extended")
}

// redislockFailure is the error of a request about a key that has been set, nil if
// there is none; gone is the error by which redislock says that it is gone.
func redislockFailure(ctx context.Context, err, gone error, done string) error {
	if err == nil {
		return nil
	}
	what := fmt.Errorf("redislock: not %s: %s", done, redislockSaid(err, gone, "gone"))
	if errors.Is(err, gone) {
		return fmt.Errorf("%w: %w", ErrLost, what)
	}
	return because(ctx, what)
}

// redislockSaid says why something failed in words that do not depend on chance;
// no is the error by which redislock says that the node said no.
func redislockSaid(err, no error, word string) string {
	if errors.Is(err, no) {
		return word
	}
	return reason(err)
}
