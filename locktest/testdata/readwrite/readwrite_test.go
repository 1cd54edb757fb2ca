package readwrite

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

// A form is a way to keep a read-write lock in Redis: the scripts of readers and writers,
// which return 1 if they did what they were asked. Their arguments are a name for the
// holder, and the TTL in milliseconds.
type form struct {
	keys                           func(key string) []string
	read, endRead, write, endWrite *redis.Script
}

// asStrings has a string with the writer, and a sorted set of the readers by the ends of
// their leases. Each end in the set is up to a millisecond too late, because the script
// rounds the time down.
var asStrings = form{
	keys: func(key string) []string { return []string{key + ":writer", key + ":readers"} },
	read: redis.NewScript(`
if redis.call("exists", KEYS[1]) == 1 then
	return 0
end
local time = redis.call("time")
redis.call("zadd", KEYS[2], time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[2] + 1, ARGV[1])
redis.call("pexpire", KEYS[2], ARGV[2])
return 1`),
	endRead: redis.NewScript(`return redis.call("zrem", KEYS[2], ARGV[1])`),
	write: redis.NewScript(`
local time = redis.call("time")
redis.call("zremrangebyscore", KEYS[2], "-inf", time[1] * 1000 + math.floor(time[2] / 1000))
if redis.call("zcard", KEYS[2]) > 0 then
	return 0
end
if redis.call("set", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then
	return 1
end
return 0`),
	endWrite: redis.NewScript(`
if redis.call("get", KEYS[1]) == ARGV[1] then
	return redis.call("del", KEYS[1])
end
return 0`),
}

// asHash has one hash: a field for each holder, and the field mode. It expires when the
// lease of the last holder ends.
var asHash = form{
	keys: func(key string) []string { return []string{key} },
	read: redis.NewScript(`
if redis.call("hget", KEYS[1], "mode") == "write" then
	return 0
end
redis.call("hset", KEYS[1], "mode", "read", ARGV[1], 1)
return redis.call("pexpire", KEYS[1], ARGV[2])`),
	endRead: redis.NewScript(`
local removed = redis.call("hdel", KEYS[1], ARGV[1])
if redis.call("hlen", KEYS[1]) == 1 then
	redis.call("del", KEYS[1])
end
return removed`),
	write: redis.NewScript(`
if redis.call("exists", KEYS[1]) == 1 then
	return 0
end
redis.call("hset", KEYS[1], "mode", "write", ARGV[1], 1)
return redis.call("pexpire", KEYS[1], ARGV[2])`),
	endWrite: redis.NewScript(`
if redis.call("hexists", KEYS[1], ARGV[1]) == 1 then
	return redis.call("del", KEYS[1])
end
return 0`),
}

// A side is the side of the readers or of the writers of a read-write lock.
type side struct {
	redis     *redis.Client
	keys      []string
	ttl       time.Duration
	take, end *redis.Script
}

func (f form) reader(env *locktest.Env) side {
	return side{env.Redis(0), f.keys(env.Key()), env.TTL(), f.read, f.endRead}
}

func (f form) writer(env *locktest.Env) side {
	return side{env.Redis(0), f.keys(env.Key()), env.TTL(), f.write, f.endWrite}
}

func (s side) Acquire(ctx context.Context) (locks.Lease, error) {
	own := lease{s, rand.Text()}
	end := time.Now().Add(s.ttl)
	taken, err := s.take.Run(ctx, s.redis, s.keys, own.holder, s.ttl.Milliseconds()).Bool()
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

type lease struct {
	side
	holder string
}

func (l lease) Release(ctx context.Context) error {
	removed, err := l.end.Run(ctx, l.redis, l.keys, l.holder).Int()
	if err == nil && removed == 0 {
		err = locks.ErrLost
	}
	return err
}

func TestStrings(t *testing.T) {
	// A writer's grant is in the one key, a reader's in the other.
	test(t, asStrings, func(key string, _ int) (slots []locks.Slot, quorum int) {
		for _, k := range asStrings.keys(key) {
			slots = append(slots, locks.Slot{Node: 0, Key: k})
		}
		return slots, 1
	})
}

func TestHash(t *testing.T) { test(t, asHash, nil) }

// test runs the suite on the writers, which exclude each other. A second reader need not
// wait for the first one. So readers are only tested against writers: one client reads, and
// the test cases are those in which each client has one section at a time.
func test(t *testing.T, f form, slots func(key string, nodes int) ([]locks.Slot, int)) {
	config := locktest.Config{Slots: slots, ReportsLossAtRelease: true}
	t.Run("writers", func(t *testing.T) {
		locktest.Run(t, config, func(env *locktest.Env) (locks.Lock, error) { return f.writer(env), nil })
	})
	config.Stories = func(name string) bool { return name == "undisturbed" || name == "claims/lease" }
	for _, reader := range []string{"client-1", "client-2"} {
		t.Run(reader+"-reads", func(t *testing.T) {
			locktest.Run(t, config, func(env *locktest.Env) (locks.Lock, error) {
				if env.Client() == reader {
					return f.reader(env), nil
				}
				return f.writer(env), nil
			})
		})
	}
}
