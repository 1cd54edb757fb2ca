package lock

import (
	"context"
	"errors"
	"testing"

	"github.com/locksim/locksim/libraries/sqlite"
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

func TestLock(t *testing.T) {
	config := locktest.Config{
		System: locks.SQLite,
		Tokens: true, // a lease has a fencing token
		// The machine with the file stops here, and no context interrupts SQLite.
		Stories: func(name string) bool { return name != "contexts/deadline" },
	}
	locktest.Run(t, config, func(env *locktest.Env) (locks.Lock, error) {
		db, err := sqlite.OpenDB(env.Base(), "locks.db")
		if err != nil {
			return nil, err
		}
		env.Warm(func(ctx context.Context) { _, _ = db.ExecContext(ctx, Table) })
		return adapter{New(db, env.Key(), env.TTL())}, nil
	})
}
