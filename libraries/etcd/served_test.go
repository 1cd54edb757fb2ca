package etcd_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/libraries/etcd"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/servers/etcd/recipes"
	"github.com/locksim/locksim/sim"
)

// withoutFaults returns the world without its faults.
func withoutFaults(cfg sim.Config) sim.Config {
	cfg.Faults = nil
	return cfg
}

// serverLock is a lock through etcd's service Lock: the server waits in the queue for its
// client.
type serverLock struct {
	env    *locks.Env
	client *clientv3.Client
}

func newServerLock(env *locks.Env) (locks.Lock, error) {
	c, err := etcd.Client(env)
	return &serverLock{env, c}, err
}

func (l *serverLock) call(ctx context.Context, path string, request, answer recipes.Message) error {
	return l.client.ActiveConnection().Invoke(ctx, path, request.Message, answer.Message)
}

func (l *serverLock) Acquire(ctx context.Context) (locks.Lease, error) {
	lease, err := l.client.Grant(ctx, 10)
	if err != nil {
		return nil, err
	}
	got := recipes.New("v3lockpb.LockResponse")
	if err := l.call(ctx, recipes.Lock, recipes.New("v3lockpb.LockRequest").With("name", l.env.Key).With("lease", int64(lease.ID)), got); err != nil {
		return nil, fmt.Errorf("%w: %w", locks.ErrNotAcquired, err)
	}
	return &serverLease{l, got.Bytes("key")}, nil
}

type serverLease struct {
	lock *serverLock
	key  []byte
}

func (l *serverLease) Release(ctx context.Context) error {
	return l.lock.call(ctx, recipes.Unlock, recipes.New("v3lockpb.UnlockRequest").With("key", l.key), recipes.New("v3lockpb.UnlockResponse"))
}

// A lock for which the server waits behaves like any other. If a pause is longer than the
// lease, another client acquires the lock, and the first client writes although it no
// longer holds it. Equal worlds have equal traces, whatever happens to the members.
func TestLockThroughServiceLock(t *testing.T) {
	for _, members := range []int{1, 3} {
		worldOf := func(faults ...sim.Fault) sim.Config {
			cfg := gcPause(t, "etcd", members, faults...)
			cfg.Lock.Kind.Name, cfg.Lock.Kind.New = "the server's", newServerLock
			return cfg
		}
		t.Run(fmt.Sprintf("no fault, %d members", members), func(t *testing.T) {
			tr := RunWorld(t, withoutFaults(worldOf()))
			Equal(t, "violations", len(checks.Check(history.New(tr), nil).Violations()), 0)
		})
		t.Run(fmt.Sprintf("a pause, %d members", members), func(t *testing.T) {
			cfg := worldOf()
			checkDeterminism(t, cfg)
			v := checks.Check(history.New(RunWorld(t, cfg)), nil)
			Equal(t, "section-exclusion", v.Finding(checks.SectionExclusion).Outcome, checks.Violated)
		})
		for name, faults := range wakingFaults(members) {
			t.Run(fmt.Sprintf("%s, %d members", name, members), func(t *testing.T) {
				cfg := worldOf(faults...)
				checkDeterminism(t, cfg)
				for _, f := range checks.Check(history.New(RunWorld(t, cfg)), nil).Violations() {
					if !strings.Contains(name, "crash") && f.Property == checks.LeaseExclusion {
						t.Errorf("%s is violated: %v", f.Property, f.Reason)
					}
				}
			})
		}
	}
}
