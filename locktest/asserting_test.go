package locktest_test

import (
	"context"
	"encoding/hex"
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
	value string
	ttl   time.Duration
}

var removeOwn = redis.NewScript(`if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end return 0`)

func (c careful) Acquire(ctx context.Context) (locks.Lease, error) {
	ok, err := c.redis.SetNX(ctx, c.key, c.value, c.ttl).Result()
	if err == nil && !ok {
		err = locks.ErrNotAcquired
	}
	return c, err
}

func (c careful) Release(ctx context.Context) error {
	return removeOwn.Run(ctx, c.redis, []string{c.key}, c.value).Err()
}

func newCareful(env *locktest.Env) (locks.Lock, error) {
	own := make([]byte, 16)
	_, err := env.Rand().Read(own)
	return careful{env.Redis(0), env.Key(), hex.EncodeToString(own), env.TTL()}, err
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
