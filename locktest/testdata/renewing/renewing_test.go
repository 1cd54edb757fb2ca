package renewing

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// renewing is a lock whose leases renew themselves until they are released or lost.
type renewing struct {
	redis *redis.Client
	key   string
	ttl   time.Duration
}

var (
	extendOwn = redis.NewScript(`
if redis.call("get", KEYS[1]) == ARGV[1] then
	return redis.call("pexpire", KEYS[1], ARGV[2])
end
return 0`)
	removeOwn = redis.NewScript(`
if redis.call("get", KEYS[1]) == ARGV[1] then
	return redis.call("del", KEYS[1])
end
return 0`)
)

func (r renewing) Acquire(ctx context.Context) (locks.Lease, error) {
	own := &lease{renewing: r, value: rand.Text(), end: time.Now().Add(r.ttl)}
	taken, err := r.redis.SetNX(ctx, r.key, own.value, r.ttl).Result()
	switch {
	case err == nil && !taken:
		return nil, locks.ErrNotAcquired
	case err == nil && time.Now().Before(own.end):
		own.startRenewing()
		return own, nil
	}
	// The key may be set although the answer is an error or came too late.
	cleanUp, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.ttl)
	defer cancel()
	_ = own.remove(cleanUp)
	return nil, errors.Join(locks.ErrNotAcquired, err)
}

// A lease is a locks.Expirer, a locks.Renewer and a locks.Notifier.
type lease struct {
	renewing
	value string

	mu  sync.Mutex
	end time.Time

	renewals chan fakeclock.Reading
	lost     chan struct{}
	stop     context.CancelFunc
	stopped  chan struct{} // closed when the lease is not renewed any more
}

// Expires returns the end of the lease by the wall clock: a TTL after the request of the
// last renewal that succeeded.
func (l *lease) Expires() fakeclock.Reading {
	l.mu.Lock()
	defer l.mu.Unlock()
	return fakeclock.Reading{Clock: fakeclock.Wall, Nanos: l.end.UnixNano()}
}

func (l *lease) Renewals() <-chan fakeclock.Reading { return l.renewals }

func (l *lease) Lost() <-chan struct{} { return l.lost }

// Release ends the renewals before it removes the key.
func (l *lease) Release(ctx context.Context) error {
	l.stop()
	<-l.stopped
	return l.remove(ctx)
}

func (l *lease) remove(ctx context.Context) error {
	removed, err := removeOwn.Run(ctx, l.redis, []string{l.key}, l.value).Int()
	if err == nil && removed == 0 {
		err = locks.ErrLost
	}
	return err
}

func (l *lease) startRenewing() {
	var ctx context.Context
	ctx, l.stop = context.WithCancel(context.Background())
	l.renewals, l.lost, l.stopped = make(chan fakeclock.Reading, 1), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(l.stopped)
		defer close(l.renewals)
		if isLost := l.renew(ctx); isLost {
			close(l.lost)
		}
	}()
}

// renew renews the lease three times in a TTL. It returns true when the lease is lost, and
// false when ctx has ended.
func (l *lease) renew(ctx context.Context) (isLost bool) {
	for end := l.end; ; {
		select {
		case <-time.After(min(l.ttl/3, time.Until(end))):
		case <-ctx.Done():
			return false
		}
		start := time.Now()
		if !start.Before(end) {
			return true
		}
		request, cancel := context.WithTimeout(ctx, min(l.ttl/4, end.Sub(start)))
		extended, err := extendOwn.Run(request, l.redis, []string{l.key}, l.value, l.ttl.Milliseconds()).Bool()
		cancel()
		switch {
		case ctx.Err() != nil:
			return false
		case err == nil && !extended:
			return true
		case err == nil:
			end = start.Add(l.ttl)
			l.publish(end)
		}
	}
}

// publish declares a new end. It replaces an end in the channel that nobody has received.
func (l *lease) publish(end time.Time) {
	l.mu.Lock()
	l.end = end
	l.mu.Unlock()
	select {
	case <-l.renewals:
	default:
	}
	l.renewals <- l.Expires()
}

func TestRenewing(t *testing.T) {
	config := locktest.Config{Notifies: true, ReportsLossAtRelease: true}
	locktest.Run(t, config, func(env *locktest.Env) (locks.Lock, error) {
		return renewing{env.Redis(0), env.Key(), env.TTL()}, nil
	})
}
