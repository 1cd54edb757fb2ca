package byhandle

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// reentrant is a handle on a lock. While it holds the lock it can enter again; the last
// leave releases the lock.
type reentrant struct {
	redis *redis.Client
	key   string
	ttl   time.Duration

	mu    sync.Mutex
	value string
	count int
	end   time.Time
}

var removeOwn = redis.NewScript(`
if redis.call("get", KEYS[1]) == ARGV[1] then
	return redis.call("del", KEYS[1])
end
return 0`)

func (r *reentrant) enter(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.count > 0 && time.Now().Before(r.end):
		r.count++
		return nil
	case r.count > 0:
		return locks.ErrLost
	}
	r.value, r.end = rand.Text(), time.Now().Add(r.ttl)
	taken, err := r.redis.SetNX(ctx, r.key, r.value, r.ttl).Result()
	switch {
	case err == nil && !taken:
		return locks.ErrNotAcquired
	case err == nil && time.Now().Before(r.end):
		r.count = 1
		return nil
	}
	// The key may be set although the answer is an error or came too late.
	cleanUp, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.ttl)
	defer cancel()
	_ = r.remove(cleanUp)
	return errors.Join(locks.ErrNotAcquired, err)
}

func (r *reentrant) leave(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.count > 1 {
		r.count--
		return nil
	}
	r.count = 0
	return r.remove(ctx)
}

func (r *reentrant) remove(ctx context.Context) error {
	removed, err := removeOwn.Run(ctx, r.redis, []string{r.key}, r.value).Int()
	if err == nil && removed == 0 {
		err = locks.ErrLost
	}
	return err
}

// adapter makes a new handle for each Acquire. To the suite, two calls of Acquire are two
// sections, which must exclude each other.
type adapter struct{ newHandle func() *reentrant }

// Acquire enters twice and leaves once, so that the lock is still held once: in this way,
// the suite also judges the counter of the entries.
func (a adapter) Acquire(ctx context.Context) (locks.Lease, error) {
	handle := a.newHandle()
	if err := handle.enter(ctx); err != nil {
		return nil, err
	}
	inner := handle.enter(ctx)
	if inner == nil {
		inner = handle.leave(ctx)
	}
	if inner != nil {
		return nil, errors.Join(inner, handle.leave(ctx))
	}
	return lease{handle}, nil
}

type lease struct{ *reentrant }

func (l lease) Release(ctx context.Context) error { return l.leave(ctx) }

func TestReentrantByHandle(t *testing.T) {
	locktest.Run(t, locktest.Config{ReportsLossAtRelease: true}, func(env *locktest.Env) (locks.Lock, error) {
		newHandle := func() *reentrant { return &reentrant{redis: env.Redis(0), key: env.Key(), ttl: env.TTL()} }
		return adapter{newHandle}, nil
	})
}
