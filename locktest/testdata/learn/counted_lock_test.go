package learn

import (
	"context"
	"crypto/rand"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// setAndCount sets the key and counts the token in one step. The counter never expires.
var setAndCount = redis.NewScript(`
if redis.call("set", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then
	return redis.call("incr", KEYS[2])
end
return 0`)

// countedLock grants the lock with a fencing token, which the script returns.
type countedLock struct {
	onOneNode
	script *redis.Script
}

func (l countedLock) Acquire(ctx context.Context) (locks.Lease, error) {
	own := uniqueLease{l.onOneNode, rand.Text()}
	end := time.Now().Add(l.ttl)
	keys := []string{l.key, l.key + ":token"}
	token, err := l.script.Run(ctx, l.redis, keys, own.value, l.ttl.Milliseconds()).Uint64()
	switch {
	case err == nil && token == 0:
		return nil, locks.ErrNotAcquired
	case err == nil && time.Now().Before(end):
		return countedLease{own, token}, nil
	}
	cleanup, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.ttl)
	defer cancel()
	_ = own.Release(cleanup)
	return nil, errors.Join(locks.ErrNotAcquired, err)
}

type countedLease struct {
	uniqueLease
	token uint64
}

// Token returns the fencing token. The client sends it with each request to the storage.
func (l countedLease) Token() uint64 { return l.token }

func TestCountedLock(t *testing.T) {
	runCases(t, locktest.Config{Tokens: true}, func(env *locktest.Env) (locks.Lock, error) {
		return countedLock{newOnOneNode(env), setAndCount}, nil
	}, "claims/tokens", "pause/work", "killed/work", "undisturbed")
}
