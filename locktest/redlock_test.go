package locktest_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// A usersRedlock is Redlock as a user writes it after the documentation of Redis, with its
// own clients, which connect when they are first needed.
type usersRedlock struct {
	nodes   []*redis.Client
	key     string
	ttl     time.Duration
	timeout time.Duration // of each request to one node
	random  interface{ Read([]byte) (int, error) }
	clock   fakeclock.Clock
}

func newUsersRedlock(timeout time.Duration) locktest.New {
	return func(env *locktest.Env) (locks.Lock, error) {
		l := &usersRedlock{key: env.Key(), ttl: env.TTL(), timeout: timeout, random: env.Rand(), clock: env.Clock()}
		for i := range env.Nodes() {
			client := redis.NewClient(&redis.Options{
				Addr: env.Addr(i), Dialer: env.Dialer(i), ContextTimeoutEnabled: true, MaxRetries: -1, DialerRetries: 1, DisableIdentity: true,
				MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}, PoolSize: 32,
			})
			env.Cleanup(func() { _ = client.Close() })
			l.nodes = append(l.nodes, client)
		}
		return l, nil
	}
}

// ask sends a request to all nodes at the same time. It returns how many nodes did what
// they were asked to do, and how many requests failed.
func (l *usersRedlock) ask(ctx context.Context, request func(context.Context, *redis.Client) (bool, error)) (yes, failed int) {
	var mu sync.Mutex
	var asked sync.WaitGroup
	for _, node := range l.nodes {
		asked.Go(func() {
			bounded, cancel := context.WithTimeout(ctx, l.timeout)
			defer cancel()
			ok, err := request(bounded, node)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				failed++
			case ok:
				yes++
			}
		})
	}
	asked.Wait()
	return yes, failed
}

func (l *usersRedlock) Acquire(ctx context.Context) (locks.Lease, error) {
	random := make([]byte, 16)
	if _, err := l.random.Read(random); err != nil {
		return nil, err
	}
	lease := &usersLease{l, hex.EncodeToString(random), time.Now()}
	yes, failed := l.ask(ctx, func(ctx context.Context, node *redis.Client) (bool, error) {
		return node.SetNX(ctx, l.key, lease.value, l.ttl).Result()
	})
	if yes > len(l.nodes)/2 && time.Now().Before(lease.end()) && ctx.Err() == nil {
		return lease, nil
	}
	lease.remove(context.WithoutCancel(ctx))
	return nil, fmt.Errorf("%w: %d of %d nodes granted it, %d did not answer", locks.ErrNotAcquired, yes, len(l.nodes), failed)
}

type usersLease struct {
	lock  *usersRedlock
	value string
	since time.Time
}

// end returns the end of the validity time: the TTL less the allowance for drift.
func (l *usersLease) end() time.Time {
	return l.since.Add(l.lock.ttl - l.lock.ttl/100 - 2*time.Millisecond)
}

func (l *usersLease) Expires() fakeclock.Reading {
	return fakeclock.Reading{Clock: fakeclock.Wall, Nanos: l.end().UnixNano()}
}

func (l *usersLease) remove(ctx context.Context) (removed, failed int) {
	return l.lock.ask(ctx, func(ctx context.Context, node *redis.Client) (bool, error) {
		n, err := removeOwn.Run(ctx, node, []string{l.lock.key}, l.value).Int()
		return n > 0, err
	})
}

func (l *usersLease) Release(ctx context.Context) error {
	if removed, failed := l.remove(context.WithoutCancel(ctx)); removed <= len(l.lock.nodes)/2 {
		return fmt.Errorf("removed on %d of %d nodes, %d did not answer", removed, len(l.lock.nodes), failed)
	}
	return nil
}

// Redlock as a user writes it passes, whatever its timeout for each node is. The
// documentation of Redis suggests 5 to 50 ms.
func TestUsersRedlock(t *testing.T) {
	if testing.Short() {
		t.Skip("TestRedlock runs the same test cases")
	}
	for _, timeout := range []time.Duration{5, 20, 50, 100, 150} {
		timeout *= time.Millisecond
		t.Run(timeout.String(), func(t *testing.T) {
			locktest.Run(t, locktest.Config{Nodes: 5}, newUsersRedlock(timeout))
		})
	}
}

// The suite shortens latencies that are too long for a lock. A lock still fails if
// something else prevents it from working.
func TestLocksFailDespiteShorterLatencies(t *testing.T) {
	if testing.Short() {
		t.Skip("the test survives many worlds in which a lock never stops trying")
	}
	for _, c := range []struct {
		name, story, rule string
		build             locktest.New
	}{
		// The timeouts of this lock are so short that no network is fast enough: its author
		// meant milliseconds.
		{"the timeout for each node is 50 µs", "partial/minority", "progress", newUsersRedlock(50 * time.Microsecond)},
		{"acquire retries without a pause", "catalogue/retry-jitter", "endless retry", func(env *locktest.Env) (locks.Lock, error) {
			lock, err := newUsersRedlock(20 * time.Millisecond)(env)
			return hasty{lock}, err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := locktest.Config{Nodes: 5, Stories: func(story string) bool { return story == c.story }}
			for f := range locktest.Survey(t, config, c.build) {
				if len(f.Problems) == 0 || f.Problems[0].Rule != c.rule {
					t.Errorf("%s finds the problems %v, want first a violation of %s", f.TestCase, f.Problems, c.rule)
				}
			}
		})
	}
}

// hasty is a lock whose acquire tries again without a pause, until its context ends.
type hasty struct{ locks.Lock }

func (h hasty) Acquire(ctx context.Context) (lease locks.Lease, err error) {
	for lease, err = h.Lock.Acquire(ctx); err != nil && ctx.Err() == nil; {
		lease, err = h.Lock.Acquire(ctx)
	}
	return lease, err
}
