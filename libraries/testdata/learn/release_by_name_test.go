package learn

import (
	"context"
	"testing"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// releasedByName deletes the row of the lock, no matter which client holds it by then.
type releasedByName struct{ rowLock }

func (l releasedByName) Acquire(ctx context.Context) (locks.Lease, error) {
	_, err := l.take(ctx)
	return l, err
}

func (l releasedByName) Release(ctx context.Context) error {
	_, err := l.db.ExecContext(ctx, `DELETE FROM locks WHERE name = $1`, l.key)
	return err
}

func TestReleasedByName(t *testing.T) {
	runCases(t, locktest.Config{System: locks.Postgres}, func(env *locktest.Env) (locks.Lock, error) {
		l, err := newRowLock(env)
		return releasedByName{l}, err
	}, "loss/release")
}
