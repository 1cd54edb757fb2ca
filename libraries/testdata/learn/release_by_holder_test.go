package learn

import (
	"context"
	"testing"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// releasedByHolder deletes the row only if it still names this grant.
type releasedByHolder struct{ rowLock }

func (l releasedByHolder) Acquire(ctx context.Context) (locks.Lease, error) {
	holder, err := l.take(ctx)
	return rowGrant{l.rowLock, holder}, err
}

type rowGrant struct {
	rowLock
	holder string
}

func (g rowGrant) Release(ctx context.Context) error {
	_, err := g.db.ExecContext(ctx, `DELETE FROM locks WHERE name = $1 AND holder = $2`, g.key, g.holder)
	return err
}

func TestReleasedByHolder(t *testing.T) {
	runCases(t, locktest.Config{System: locks.Postgres}, func(env *locktest.Env) (locks.Lock, error) {
		l, err := newRowLock(env)
		return releasedByHolder{l}, err
	}, "loss/release")
}
