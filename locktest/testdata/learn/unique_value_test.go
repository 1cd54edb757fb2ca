package learn

import (
	"context"
	"crypto/rand"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// uniqueValue sets the key to a new random value in each acquire.
type uniqueValue struct{ onOneNode }

func (l uniqueValue) Acquire(ctx context.Context) (locks.Lease, error) {
	value := rand.Text()
	isSet, err := l.redis.SetNX(ctx, l.key, value, l.ttl).Result()
	if err == nil && !isSet {
		return nil, locks.ErrNotAcquired
	}
	return uniqueLease{l.onOneNode, value}, err
}

type uniqueLease struct {
	onOneNode
	value string
}

var deleteOwn = redis.NewScript(`
if redis.call("get", KEYS[1]) == ARGV[1] then
	return redis.call("del", KEYS[1])
end
return 0`)

// Release deletes the key if it still has the value of this acquisition.
func (l uniqueLease) Release(ctx context.Context) error {
	deleted, err := deleteOwn.Run(ctx, l.redis, []string{l.key}, l.value).Int()
	if err == nil && deleted == 0 {
		err = locks.ErrLost
	}
	return err
}

func newUniqueValue(env *locktest.Env) (locks.Lock, error) {
	return uniqueValue{newOnOneNode(env)}, nil
}

func TestUniqueValue(t *testing.T) {
	runCases(t, locktest.Config{ReportsLossAtRelease: true}, newUniqueValue, "late-request/release")
}

// TestUniqueValueAnsweredLate fails: Acquire does not measure how long the answer took.
func TestUniqueValueAnsweredLate(t *testing.T) {
	runCases(t, locktest.Config{}, newUniqueValue, "late/acquire")
}
