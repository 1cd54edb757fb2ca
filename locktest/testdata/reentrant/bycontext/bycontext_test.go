package bycontext

import (
	"context"
	"crypto/rand"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// reentrant is a lock that is granted again to a caller whose context has its lease.
type reentrant struct {
	redis *redis.Client
	key   string
	ttl   time.Duration
}

// A keyOf is the key under which a context has the lease of a lock.
type keyOf string

var removeOwn = redis.NewScript(`
if redis.call("get", KEYS[1]) == ARGV[1] then
	return redis.call("del", KEYS[1])
end
return 0`)

// enter returns a context with the lease, for the calls of the section.
func (r reentrant) enter(ctx context.Context) (context.Context, *lease, error) {
	if held, ok := ctx.Value(keyOf(r.key)).(*lease); ok {
		if held.count.Load() == 0 || !time.Now().Before(held.end) {
			return ctx, nil, locks.ErrLost
		}
		held.count.Add(1)
		return ctx, held, nil
	}
	own := &lease{reentrant: r, value: rand.Text(), end: time.Now().Add(r.ttl)}
	taken, err := r.redis.SetNX(ctx, r.key, own.value, r.ttl).Result()
	switch {
	case err == nil && !taken:
		return ctx, nil, locks.ErrNotAcquired
	case err == nil && time.Now().Before(own.end):
		own.count.Store(1)
		return context.WithValue(ctx, keyOf(r.key), own), own, nil
	}
	// The key may be set although the answer is an error or came too late.
	cleanUp, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.ttl)
	defer cancel()
	_ = own.remove(cleanUp)
	return ctx, nil, errors.Join(locks.ErrNotAcquired, err)
}

type lease struct {
	reentrant
	value string
	end   time.Time
	count atomic.Int32
}

// Release leaves the section. The last call releases the lock.
func (l *lease) Release(ctx context.Context) error {
	if l.count.Add(-1) > 0 {
		return nil
	}
	return l.remove(ctx)
}

func (l *lease) remove(ctx context.Context) error {
	removed, err := removeOwn.Run(ctx, l.redis, []string{l.key}, l.value).Int()
	if err == nil && removed == 0 {
		err = locks.ErrLost
	}
	return err
}

// adapter drops the context of the section, so each Acquire of the suite is the first of
// its caller.
type adapter struct{ reentrant }

// Acquire enters twice and leaves once, so that the lock is still held once: in this way,
// the suite also judges the counter of the entries.
func (a adapter) Acquire(ctx context.Context) (locks.Lease, error) {
	section, own, err := a.enter(ctx)
	if err != nil {
		return nil, err
	}
	_, inner, err := a.enter(section)
	if err == nil {
		err = inner.Release(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, own.Release(ctx))
	}
	return own, nil
}

func TestReentrantByContext(t *testing.T) {
	locktest.Run(t, locktest.Config{ReportsLossAtRelease: true}, func(env *locktest.Env) (locks.Lock, error) {
		return adapter{reentrant{env.Redis(0), env.Key(), env.TTL()}}, nil
	})
}
