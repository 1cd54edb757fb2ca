package fair

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

// fair is one client's handle on a lock that the clients get in the order in which they
// have first asked for it. Acquire tries once. The client keeps its place in the queue as
// long as it asks again within patience. A handle is for one goroutine.
type fair struct {
	redis *redis.Client
	key   string
	ttl   time.Duration
	place string // the client's name in the queue, and the value of its key; "" if it does not wait
}

const patience = time.Second

// take has the keys LOCK, QUEUE and ASKED. QUEUE is a sorted set of the waiting clients by
// the times at which they have come, and ASKED by the times at which they last asked.
var take = redis.NewScript(`
local time = redis.call("time")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for _, gone in ipairs(redis.call("zrangebyscore", KEYS[3], "-inf", now - ARGV[3])) do
	redis.call("zrem", KEYS[2], gone)
	redis.call("zrem", KEYS[3], gone)
end
redis.call("zadd", KEYS[2], "NX", now, ARGV[1])
redis.call("zadd", KEYS[3], now, ARGV[1])
if redis.call("zrange", KEYS[2], 0, 0)[1] ~= ARGV[1] then
	return 0
end
if not redis.call("set", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then
	return 0
end
redis.call("zrem", KEYS[2], ARGV[1])
redis.call("zrem", KEYS[3], ARGV[1])
return 1`)

var removeOwn = redis.NewScript(`
if redis.call("get", KEYS[1]) == ARGV[1] then
	return redis.call("del", KEYS[1])
end
return 0`)

func (f *fair) Acquire(ctx context.Context) (locks.Lease, error) {
	if f.place == "" {
		f.place = rand.Text()
	}
	own := lease{f, f.place}
	end := time.Now().Add(f.ttl)
	keys := []string{f.key, f.key + ":queue", f.key + ":asked"}
	taken, err := take.Run(ctx, f.redis, keys, own.value, f.ttl.Milliseconds(), patience.Milliseconds()).Bool()
	if err == nil && !taken {
		return nil, locks.ErrNotAcquired
	}
	f.place = ""
	if err == nil && time.Now().Before(end) {
		return own, nil
	}
	// The key may be set although the answer is an error or came too late. The place in the
	// queue is given up: a request that arrives late must not use it.
	cleanUp, cancel := context.WithTimeout(context.WithoutCancel(ctx), f.ttl)
	defer cancel()
	_ = own.Release(cleanUp)
	return nil, errors.Join(locks.ErrNotAcquired, err)
}

type lease struct {
	*fair
	value string
}

func (l lease) Release(ctx context.Context) error {
	removed, err := removeOwn.Run(ctx, l.redis, []string{l.key}, l.value).Int()
	if err == nil && removed == 0 {
		err = locks.ErrLost
	}
	return err
}

func TestFair(t *testing.T) {
	locktest.Run(t, locktest.Config{ReportsLossAtRelease: true}, func(env *locktest.Env) (locks.Lock, error) {
		return &fair{redis: env.Redis(0), key: env.Key(), ttl: env.TTL()}, nil
	})
}
