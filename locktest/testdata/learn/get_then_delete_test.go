package learn

import (
	"context"
	"testing"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// getThenDelete compares the value in the client, and deletes the key in a second command.
type getThenDelete struct{ uniqueValue }

func (l getThenDelete) Acquire(ctx context.Context) (locks.Lease, error) {
	lease, err := l.uniqueValue.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	return getThenDeleteLease{lease.(uniqueLease)}, nil
}

type getThenDeleteLease struct{ uniqueLease }

func (l getThenDeleteLease) Release(ctx context.Context) error {
	value, err := l.redis.Get(ctx, l.key).Result()
	if err == nil && value == l.value {
		err = l.redis.Del(ctx, l.key).Err()
	}
	return err
}

func TestGetThenDelete(t *testing.T) {
	runCases(t, locktest.Config{}, func(env *locktest.Env) (locks.Lock, error) {
		return getThenDelete{uniqueValue{newOnOneNode(env)}}, nil
	}, "late-request/release")
}
