package dialing

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// dialing is a lock with a client of its own.
type dialing struct {
	redis *redis.Client
	key   string
	ttl   time.Duration
}

// open connects to the server. The caller must close the lock.
func open(ctx context.Context, options *redis.Options, key string, ttl time.Duration) (*dialing, error) {
	d := &dialing{redis.NewClient(options), key, ttl}
	if err := d.redis.Ping(ctx).Err(); err != nil {
		_ = d.Close()
		return nil, fmt.Errorf("lock %s: %w", key, err)
	}
	return d, nil
}

func (d *dialing) Close() error { return d.redis.Close() }

var removeOwn = redis.NewScript(`
if redis.call("get", KEYS[1]) == ARGV[1] then
	return redis.call("del", KEYS[1])
end
return 0`)

func (d *dialing) Acquire(ctx context.Context) (locks.Lease, error) {
	own := lease{d, rand.Text()}
	end := time.Now().Add(d.ttl)
	taken, err := d.redis.SetNX(ctx, d.key, own.value, d.ttl).Result()
	switch {
	case err == nil && !taken:
		return nil, locks.ErrNotAcquired
	case err == nil && time.Now().Before(end):
		return own, nil
	}
	// The key may be set although the answer is an error or came too late.
	cleanUp, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.ttl)
	defer cancel()
	_ = own.Release(cleanUp)
	return nil, errors.Join(locks.ErrNotAcquired, err)
}

type lease struct {
	*dialing
	value string
}

func (l lease) Release(ctx context.Context) error {
	removed, err := removeOwn.Run(ctx, l.redis, []string{l.key}, l.value).Int()
	if err == nil && removed == 0 {
		err = locks.ErrLost
	}
	return err
}

func TestDialing(t *testing.T) {
	locktest.Run(t, locktest.Config{ReportsLossAtRelease: true}, func(env *locktest.Env) (locks.Lock, error) {
		lock, err := open(context.Background(), &redis.Options{
			Addr:   env.Addr(0),
			Dialer: env.Dialer(0), // the simulated network
			// By default go-redis sends a command again if the answer does not come. The second
			// SET NX then finds the key that the first one has set.
			MaxRetries: -1,
			// By default go-redis waits five seconds for an answer, whatever the context says.
			ContextTimeoutEnabled: true,
		}, env.Key(), env.TTL())
		if err != nil {
			return nil, err
		}
		env.Cleanup(func() { _ = lock.Close() })
		return lock, nil
	})
}
