package semaphore

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

// A semaphore is a sorted set of the clients that have a permit, by the ends of their
// leases. The suite judges locks that one client holds at a time, so its test has one
// permit.
type semaphore struct {
	redis   *redis.Client
	key     string
	permits int
	ttl     time.Duration
}

// take removes the holders whose leases have ended, by the server's clock, and adds a
// holder if a permit is left. It returns 1 if it has added the holder. The end in the set is
// up to a millisecond later than the key's, because the script rounds the time down.
var take = redis.NewScript(`
local time = redis.call("time")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call("zremrangebyscore", KEYS[1], "-inf", now)
if redis.call("zcard", KEYS[1]) >= tonumber(ARGV[2]) then
	return 0
end
redis.call("zadd", KEYS[1], now + ARGV[3] + 1, ARGV[1])
redis.call("pexpire", KEYS[1], ARGV[3])
return 1`)

func (s semaphore) Acquire(ctx context.Context) (locks.Lease, error) {
	own := permit{s, rand.Text()}
	end := time.Now().Add(s.ttl)
	taken, err := take.Run(ctx, s.redis, []string{s.key}, own.holder, s.permits, s.ttl.Milliseconds()).Bool()
	switch {
	case err == nil && !taken:
		return nil, locks.ErrNotAcquired
	case err == nil && time.Now().Before(end):
		return own, nil
	}
	// The server may have added the holder although the answer is an error or came too late.
	cleanUp, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.ttl)
	defer cancel()
	_ = own.Release(cleanUp)
	return nil, errors.Join(locks.ErrNotAcquired, err)
}

// A permit is a lease. It ends one TTL after the call of Acquire.
type permit struct {
	semaphore
	holder string
}

func (p permit) Release(ctx context.Context) error {
	removed, err := p.redis.ZRem(ctx, p.key, p.holder).Result()
	if err == nil && removed == 0 {
		err = locks.ErrLost
	}
	return err
}

func TestSemaphore(t *testing.T) {
	locktest.Run(t, locktest.Config{ReportsLossAtRelease: true}, func(env *locktest.Env) (locks.Lock, error) {
		return semaphore{redis: env.Redis(0), key: env.Key(), permits: 1, ttl: env.TTL()}, nil
	})
}
