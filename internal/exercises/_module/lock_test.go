package lock

import (
	"context"
	"errors"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// adapter makes a locks.Lock of a Lock.
type adapter struct{ *Lock }

func (a adapter) Acquire(ctx context.Context) (locks.Lease, error) {
	lease, err := a.Lock.Acquire(ctx)
	if errors.Is(err, ErrNotAcquired) {
		return nil, locks.ErrNotAcquired
	}
	if err != nil {
		return nil, err // and not lease, which is nil, but would not be a nil locks.Lease
	}
	return lease, nil
}

// story is a world of your own. Change it, and run go test -v, to try what you want to know.
// The command locksim learn check has worlds of its own, and does not run this test.
const story = `
title: Two clients work one after the other
lock: {kind: single, ttl: 3s}
clients:
  client-1: {works: 1s}
  client-2: {starts: client-1 read}
`

func TestStory(t *testing.T) {
	build := func(env *locktest.Env) (locks.Lock, error) {
		var nodes []*redis.Client
		for i := range env.Nodes() {
			nodes = append(nodes, env.Redis(i))
		}
		return adapter{New(nodes, env.Key(), env.TTL())}, nil
	}
	for _, run := range locktest.Scenario(t, locktest.Config{}, build, 1, story) {
		t.Logf("fencing %s: %s", run.Fencing, run.Verdict.Verdict)
		for _, s := range run.History.Sections() {
			t.Logf("  %s holds the lock from %v to %v", s.Client, s.From.At, s.To.At)
		}
	}
}
