package learn

import (
	"context"
	"crypto/rand"
	"errors"
	"testing"
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// elapsedCheck measures how long the answer took. It grants nothing that has already ended.
type elapsedCheck struct{ onOneNode }

func (l elapsedCheck) Acquire(ctx context.Context) (locks.Lease, error) {
	own := uniqueLease{l.onOneNode, rand.Text()}
	end := time.Now().Add(l.ttl) // measured before the request, because Redis counts from its arrival
	isSet, err := l.redis.SetNX(ctx, l.key, own.value, l.ttl).Result()
	switch {
	case err == nil && !isSet:
		return nil, locks.ErrNotAcquired
	case err == nil && time.Now().Before(end):
		return own, nil
	}
	// The key may be set although the answer is an error or came too late. The context of the
	// caller may have ended, so the cleanup has its own.
	cleanup, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.ttl)
	defer cancel()
	_ = own.Release(cleanup)
	return nil, errors.Join(locks.ErrNotAcquired, err)
}

func newElapsedCheck(env *locktest.Env) (locks.Lock, error) {
	return elapsedCheck{newOnOneNode(env)}, nil
}

func TestElapsedCheck(t *testing.T) {
	runCases(t, locktest.Config{ReportsLossAtRelease: true}, newElapsedCheck, "late/acquire", "late-reply/acquire", "lost-reply/acquire")
}
