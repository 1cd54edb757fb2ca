package asyncrelease

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

// lock is a lock whose leases are released in the background.
type lock struct {
	redis *redis.Client
	key   string
	ttl   time.Duration
}

var removeOwn = redis.NewScript(`
if redis.call("get", KEYS[1]) == ARGV[1] then
	return redis.call("del", KEYS[1])
end
return 0`)

func (l lock) acquire(ctx context.Context) (*lease, error) {
	own := &lease{lock: l, value: rand.Text(), released: make(chan error, 1)}
	end := time.Now().Add(l.ttl)
	taken, err := l.redis.SetNX(ctx, l.key, own.value, l.ttl).Result()
	switch {
	case err == nil && !taken:
		return nil, locks.ErrNotAcquired
	case err == nil && time.Now().Before(end):
		return own, nil
	}
	// The key may be set although the answer is an error or came too late.
	own.release()
	<-own.released
	return nil, errors.Join(locks.ErrNotAcquired, err)
}

type lease struct {
	lock
	value string
	// released receives the result of a release when it is known.
	released chan error
}

// release returns immediately. It removes the key in the background.
func (l *lease) release() {
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), l.ttl)
		defer cancel()
		removed, err := removeOwn.Run(ctx, l.redis, []string{l.key}, l.value).Int()
		if err == nil && removed == 0 {
			err = locks.ErrLost
		}
		l.released <- err
	}()
}

// adapter waits for the end of each release. To the suite, a release that returns nil says
// that the lock is free.
type adapter struct{ lock }

func (a adapter) Acquire(ctx context.Context) (locks.Lease, error) {
	own, err := a.acquire(ctx)
	if err != nil {
		return nil, err
	}
	return waitingLease{own}, nil
}

type waitingLease struct{ *lease }

func (l waitingLease) Release(ctx context.Context) error {
	l.release()
	select {
	case err := <-l.released:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func TestAsyncRelease(t *testing.T) {
	locktest.Run(t, locktest.Config{ReportsLossAtRelease: true}, func(env *locktest.Env) (locks.Lock, error) {
		return adapter{lock{env.Redis(0), env.Key(), env.TTL()}}, nil
	})
}
