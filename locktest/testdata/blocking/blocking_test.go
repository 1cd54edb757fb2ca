package blocking

import (
	"context"
	"crypto/rand"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// blocking is a lock whose Acquire waits until it has the lock or its context ends.
type blocking struct {
	redis *redis.Client
	key   string
	ttl   time.Duration
}

// take sets the key if it does not exist. It renews the key if it has this value already:
// then an earlier try has set it, whose answer was lost.
var take = redis.NewScript(`
if redis.call("set", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then
	return 1
end
if redis.call("get", KEYS[1]) == ARGV[1] then
	return redis.call("pexpire", KEYS[1], ARGV[2])
end
return 0`)

var removeOwn = redis.NewScript(`
if redis.call("get", KEYS[1]) == ARGV[1] then
	return redis.call("del", KEYS[1])
end
return 0`)

// Acquire uses one value for all tries. So if an earlier try sets the key late, the key has the
// value of this lease.
func (b blocking) Acquire(ctx context.Context) (locks.Lease, error) {
	own := lease{blocking: b, value: rand.Text()}
	for {
		own.end = time.Now().Add(b.ttl)
		taken, err := take.Run(ctx, b.redis, []string{b.key}, own.value, b.ttl.Milliseconds()).Bool()
		if err == nil && taken && time.Now().Before(own.end) {
			return own, nil
		}
		select {
		case <-time.After(b.ttl / 100):
			continue
		case <-ctx.Done():
		}
		// The key may be set although no answer said so.
		cleanUp, cancel := context.WithTimeout(context.WithoutCancel(ctx), b.ttl)
		defer cancel()
		_ = own.Release(cleanUp)
		return nil, errors.Join(locks.ErrNotAcquired, err)
	}
}

type lease struct {
	blocking
	value string
	end   time.Time
}

// Expires makes the lease a locks.Expirer. The end counts from the last try: without this
// method the suite would count it from the call of Acquire.
func (l lease) Expires() fakeclock.Reading {
	return fakeclock.Reading{Clock: fakeclock.Wall, Nanos: l.end.UnixNano()}
}

func (l lease) Release(ctx context.Context) error {
	removed, err := removeOwn.Run(ctx, l.redis, []string{l.key}, l.value).Int()
	if err == nil && removed == 0 {
		err = locks.ErrLost
	}
	return err
}

func TestBlocking(t *testing.T) {
	locktest.Run(t, locktest.Config{ReportsLossAtRelease: true}, func(env *locktest.Env) (locks.Lock, error) {
		return blocking{env.Redis(0), env.Key(), env.TTL()}, nil
	})
}
