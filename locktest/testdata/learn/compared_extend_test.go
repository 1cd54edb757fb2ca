package learn

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// comparedExtend renews the key only if it still has the value of this acquisition.
type comparedExtend struct{ elapsedCheck }

func (l comparedExtend) Acquire(ctx context.Context) (locks.Lease, error) {
	end := time.Now().Add(l.ttl)
	lease, err := l.elapsedCheck.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	return &comparedExtendLease{lease.(uniqueLease), end}, nil
}

type comparedExtendLease struct {
	uniqueLease
	end time.Time // of the lease, by the client's own clock
}

var extendOwn = redis.NewScript(`
if redis.call("get", KEYS[1]) == ARGV[1] then
	return redis.call("pexpire", KEYS[1], ARGV[2])
end
return 0`)

// Extend must succeed before the lease ends: after that, another client may have had the lock.
func (l *comparedExtendLease) Extend(ctx context.Context) error {
	start := time.Now()
	extended, err := extendOwn.Run(ctx, l.redis, []string{l.key}, l.value, l.ttl.Milliseconds()).Int()
	switch {
	case err != nil:
		return err
	case extended == 0 || !time.Now().Before(l.end):
		return locks.ErrLost
	}
	l.end = start.Add(l.ttl)
	return nil
}

func TestComparedExtend(t *testing.T) {
	runCases(t, locktest.Config{Extends: true}, func(env *locktest.Env) (locks.Lock, error) {
		return comparedExtend{elapsedCheck{newOnOneNode(env)}}, nil
	}, "loss/extend")
}
