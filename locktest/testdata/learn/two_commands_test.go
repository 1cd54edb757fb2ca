package learn

import (
	"context"
	"testing"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// twoCommands sets the key, and then its expiry.
type twoCommands struct{ onOneNode }

func (l twoCommands) Acquire(ctx context.Context) (locks.Lease, error) {
	isSet, err := l.redis.SetNX(ctx, l.key, "locked", 0).Result() // 0 means without an expiry
	if err == nil && !isSet {
		return nil, locks.ErrNotAcquired
	}
	if err == nil {
		err = l.redis.PExpire(ctx, l.key, l.ttl).Err()
	}
	return l, err
}

func (l twoCommands) Release(ctx context.Context) error { return l.redis.Del(ctx, l.key).Err() }

func TestTwoCommands(t *testing.T) {
	runCases(t, locktest.Config{}, func(env *locktest.Env) (locks.Lock, error) {
		return twoCommands{newOnOneNode(env)}, nil
	}, "killed/acquire")
}
