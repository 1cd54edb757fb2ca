// Package options runs package locktest against the locks of libraries for Redis with options
// that their documentation shows, and as its examples use them.
package options

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/rueidis"
	rueidislib "github.com/redis/rueidis/rueidislock"

	"github.com/locksim/locksim/libraries/rueidislock"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// options are the options of redsync that its documentation describes, each alone. WithValue is
// left out: the next Lock replaces the value that it sets. So it only serves to release a lock with
// another Mutex, for example in another process.
var options = []struct {
	name   string
	option redsync.Option
}{
	{"set-nx-on-extend", redsync.WithSetNXOnExtend()},
	{"fail-fast", redsync.WithFailFast(true)},
	{"shuffle-pools", redsync.WithShufflePools(true)},
	{"timeout-factor", redsync.WithTimeoutFactor(0.5)},
	{"drift-factor", redsync.WithDriftFactor(0.1)},
}

// onRedsync is redsync with one of its options.
type onRedsync struct {
	redsync *redsync.Redsync
	options []redsync.Option
	key     string
}

func (l onRedsync) Acquire(ctx context.Context) (locks.Lease, error) {
	m := l.redsync.NewMutex(l.key, l.options...)
	if err := m.TryLockContext(ctx); err != nil {
		return nil, locks.ErrNotAcquired
	}
	return redsyncLease{m}, nil
}

type redsyncLease struct{ mutex *redsync.Mutex }

func (l redsyncLease) Expires() time.Time { return l.mutex.Until() }

func (l redsyncLease) Release(ctx context.Context) error {
	if released, _ := l.mutex.UnlockContext(ctx); !released {
		return locks.ErrLost
	}
	return nil
}

func (l redsyncLease) Extend(ctx context.Context) error {
	if extended, _ := l.mutex.ExtendContext(ctx); !extended {
		return locks.ErrLost
	}
	return nil
}

func TestRedsync(t *testing.T) {
	for _, o := range options {
		t.Run(o.name, func(t *testing.T) {
			locktest.Run(t, locktest.Config{Nodes: 5, Extends: true, Known: "known.json", Stories: concernsOptions}, func(env *locktest.Env) (locks.Lock, error) {
				var pools []redsyncredis.Pool
				for i := range env.Nodes() {
					pools = append(pools, goredis.NewPool(env.Redis(i)))
				}
				return onRedsync{redsync.New(pools...), []redsync.Option{redsync.WithExpiry(env.TTL()), o.option}, env.Key()}, nil
			})
		})
	}
}

// onRedislock is redislock with the watchdog that its README shows: it refreshes the lock each
// third of a TTL, and cancels the work if a refresh fails.
type onRedislock struct {
	client *redislock.Client
	key    string
	ttl    time.Duration
	life   context.Context // ends with the world
}

func (l onRedislock) Acquire(ctx context.Context) (locks.Lease, error) {
	lock, err := l.client.Obtain(ctx, l.key, l.ttl, nil)
	if err != nil {
		return nil, locks.ErrNotAcquired
	}
	work, cancel := context.WithCancel(l.life)
	lease := redislockLease{lock, cancel, make(chan struct{}), make(chan struct{})}
	go func() {
		defer close(lease.ended)
		ticker := time.NewTicker(l.ttl / 3)
		defer ticker.Stop()
		for {
			select {
			case <-work.Done():
				return
			case <-ticker.C:
				if err := lock.Refresh(work, l.ttl, nil); err != nil {
					if work.Err() == nil {
						close(lease.lost)
					}
					return
				}
			}
		}
	}()
	return lease, nil
}

type redislockLease struct {
	lock   *redislock.Lock
	cancel context.CancelFunc
	lost   chan struct{}
	ended  chan struct{} // closed when the watchdog has ended
}

func (l redislockLease) Lost() <-chan struct{} { return l.lost }

func (l redislockLease) Release(ctx context.Context) error {
	l.cancel()
	<-l.ended
	err := l.lock.Release(ctx)
	if errors.Is(err, redislock.ErrLockNotHeld) {
		err = locks.ErrLost
	}
	return err
}

func TestRedislockWatchdog(t *testing.T) {
	locktest.Run(t, locktest.Config{Notifies: true, Known: "known.json", Stories: isOfAnyLock}, func(env *locktest.Env) (locks.Lock, error) {
		return onRedislock{redislock.New(env.Redis(0)), env.Key(), env.TTL(), env.Base().Lifetime()}, nil
	})
}

// onRueidislock is rueidislock as its README uses it: KeyMajority 1 for one Redis server, and
// WithContext, which waits for the lock. The simulated server does not notify clients of changed
// keys, so caching is off, as the README advises for such servers.
type onRueidislock struct {
	locker rueidislib.Locker
	key    string
	life   context.Context // ends with the world
}

func (l onRueidislock) Acquire(ctx context.Context) (locks.Lease, error) {
	held, end := context.WithCancel(l.life)
	stop := context.AfterFunc(ctx, end)
	lockCtx, cancel, err := l.locker.WithContext(held, l.key)
	if err != nil {
		stop()
		end()
		return nil, locks.ErrNotAcquired
	}
	if !stop() {
		cancel()
		return nil, locks.ErrNotAcquired
	}
	lease := &rueidisLease{lost: make(chan struct{}), cancel: cancel}
	lease.stopWatching = context.AfterFunc(lockCtx, func() { close(lease.lost) })
	return lease, nil
}

type rueidisLease struct {
	lost         chan struct{}
	cancel       context.CancelFunc
	stopWatching func() bool
}

func (l *rueidisLease) Lost() <-chan struct{} { return l.lost }

func (l *rueidisLease) Release(context.Context) error {
	held := l.stopWatching()
	l.cancel()
	if !held {
		return locks.ErrLost
	}
	return nil
}

func TestRueidislockReadme(t *testing.T) {
	config := locktest.Config{
		Notifies: true, Known: "known.json", Stories: isOfAnyLock,
		Slots: func(key string, _ int) ([]locks.Slot, int) {
			return []locks.Slot{{Node: 0, Key: "rueidislock:0:" + key}}, 1
		},
	}
	locktest.Run(t, config, func(env *locktest.Env) (locks.Lock, error) {
		locker, err := rueidislib.NewLocker(rueidislib.LockerOption{
			ClientOption: rueidis.ClientOption{
				InitAddress:       []string{env.Addr(0)},
				DisableCache:      true,
				ForceSingleClient: true,
				DialCtxFn: func(ctx context.Context, addr string, dialer *net.Dialer, _ *tls.Config) (net.Conn, error) {
					ctx, cancel := context.WithTimeout(ctx, dialer.Timeout)
					defer cancel()
					return env.Dialer(0)(ctx, "tcp", addr)
				},
				// Without it the library draws at random.
				RetryDelay: func(attempts int, _ rueidis.Completed, _ error) time.Duration {
					return time.Millisecond << min(attempts, 10)
				},
			},
			ClientBuilder: func(o rueidis.ClientOption) (rueidis.Client, error) {
				return rueidislock.Open(env.Base(), o)
			},
			KeyMajority:    1,
			NoLoopTracking: true,
			KeyValidity:    env.TTL(),
		})
		if err != nil {
			return nil, err
		}
		env.Cleanup(locker.Close)
		return onRueidislock{locker, env.Key(), env.Base().Lifetime()}, nil
	})
}

// isOfAnyLock reports whether a test case is no scenario of the catalogue.
func isOfAnyLock(testCase string) bool { return !strings.HasPrefix(testCase, "catalogue/") }

// concernsOptions reports whether an option of redsync can matter in a test case: a call fails, a
// lease is lost, or some of the nodes are slower than others.
func concernsOptions(testCase string) bool {
	group, _, _ := strings.Cut(testCase, "/")
	return slices.Contains([]string{"contexts", "partial", "loss", "ttl", "claims"}, group) ||
		testCase == "pause/extend" || testCase == "pause/work"
}
