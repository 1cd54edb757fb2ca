package learn

import (
	"context"
	"testing"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// oneCommand sets the key together with its expiry: SET key locked NX PX ttl.
type oneCommand struct{ onOneNode }

func (l oneCommand) Acquire(ctx context.Context) (locks.Lease, error) {
	isSet, err := l.redis.SetNX(ctx, l.key, "locked", l.ttl).Result()
	if err == nil && !isSet {
		return nil, locks.ErrNotAcquired
	}
	return l, err
}

func (l oneCommand) Release(ctx context.Context) error { return l.redis.Del(ctx, l.key).Err() }

func newOneCommand(env *locktest.Env) (locks.Lock, error) { return oneCommand{newOnOneNode(env)}, nil }

func TestOneCommand(t *testing.T) {
	runCases(t, locktest.Config{}, newOneCommand, "killed/acquire")
}

// TestOneCommandReleasedLate fails: Release compares nothing.
func TestOneCommandReleasedLate(t *testing.T) {
	runCases(t, locktest.Config{}, newOneCommand, "late-request/release")
}
