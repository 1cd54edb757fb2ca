package learn

import (
	"context"
	"testing"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// plainExtend renews the key without a comparison.
type plainExtend struct{ elapsedCheck }

func (l plainExtend) Acquire(ctx context.Context) (locks.Lease, error) {
	lease, err := l.elapsedCheck.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	return plainExtendLease{lease.(uniqueLease)}, nil
}

type plainExtendLease struct{ uniqueLease }

func (l plainExtendLease) Extend(ctx context.Context) error {
	isExtended, err := l.redis.PExpire(ctx, l.key, l.ttl).Result()
	if err == nil && !isExtended {
		err = locks.ErrLost
	}
	return err
}

func TestPlainExtend(t *testing.T) {
	runCases(t, locktest.Config{Extends: true}, func(env *locktest.Env) (locks.Lock, error) {
		return plainExtend{elapsedCheck{newOnOneNode(env)}}, nil
	}, "loss/extend")
}
