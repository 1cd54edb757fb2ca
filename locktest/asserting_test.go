package locktest_test

import (
	"context"
	"crypto/rand"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// careful is a lock on one node that removes the key only if it has set it.
type careful struct {
	redis *redis.Client
	key   string
	ttl   time.Duration
}

var removeOwn = redis.NewScript(`
if redis.call("get", KEYS[1]) == ARGV[1] then
	return redis.call("del", KEYS[1])
end
return 0`)

func (c careful) Acquire(ctx context.Context) (locks.Lease, error) {
	own := carefulLease{c, rand.Text()}
	end := time.Now().Add(c.ttl)
	taken, err := c.redis.SetNX(ctx, c.key, own.value, c.ttl).Result()
	switch {
	case err == nil && !taken:
		return nil, locks.ErrNotAcquired
	case err == nil && time.Now().Before(end):
		return own, nil
	}
	// The key may be set although the answer is an error or came too late.
	cleanUp, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.ttl)
	defer cancel()
	_ = own.Release(cleanUp)
	return nil, errors.Join(locks.ErrNotAcquired, err)
}

type carefulLease struct {
	careful
	value string
}

func (l carefulLease) Release(ctx context.Context) error {
	removed, err := removeOwn.Run(ctx, l.redis, []string{l.key}, l.value).Int()
	if err == nil && removed == 0 {
		err = locks.ErrLost
	}
	return err
}

func newCareful(env *locktest.Env) (locks.Lock, error) {
	return careful{env.Redis(0), env.Key(), env.TTL()}, nil
}

// TestCareful runs the whole suite.
func TestCareful(t *testing.T) {
	locktest.Run(t, locktest.Config{ReportsLossAtRelease: true}, newCareful)
}

// TestNobodyRemovesAnothersKey shows how a test makes its own assertions on one of the
// worlds of locktest.Run. It asserts that a key disappears only if its owner removes it, or
// if it expires.
func TestNobodyRemovesAnothersKey(t *testing.T) {
	h := locktest.World(t, locktest.Config{}, newCareful, "catalogue/release-lua/late/fencing-off")
	removed := 0
	for _, c := range h.KeyChanges() {
		if c.How != history.Removed || c.Before == nil {
			continue
		}
		removed++
		if by := history.AcquisitionOf(c.Event.By); by != c.Before.Owner {
			t.Errorf("at %v %s removed the key of %s", c.At, by, c.Before.Owner)
		}
	}
	if removed == 0 {
		t.Error("no key was removed at all: the world shows nothing")
	}
}

// TestABreakOfTwoMinutes shows how a test runs its own scenario, without fencing tokens and
// with them.
func TestABreakOfTwoMinutes(t *testing.T) {
	runs := locktest.Scenario(t, locktest.Config{}, newCareful, 1, `
title: the first client takes a long break
lock: {kind: single, ttl: 10s}
clients:
  client-1: {works: 1s}
  client-2: {works: 1s, starts: client-1 paused}
faults:
  - {pause: client-1, before: client-1 write, for: 2m}
`)
	for _, run := range runs {
		h := run.History
		for _, s := range h.Sections() {
			for _, b := range h.Backings(s.Lock, s.Acquisition) {
				t.Logf("fencing %s: %s was in its section until %v, and the node backed it until %v", run.Fencing, s, s.To.At, b.To.At)
			}
		}
		want := map[string]string{"off": checks.Unsafe, "on": checks.Safe}[run.Fencing]
		if run.Verdict.Verdict != want {
			t.Errorf("fencing %s: the verdict is %s, and not %s", run.Fencing, run.Verdict.Verdict, want)
		}
	}
}
