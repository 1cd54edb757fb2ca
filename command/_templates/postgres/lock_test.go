package lock

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/locksim/locksim/libraries/postgres"
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
		System:               locks.Postgres,
		Tokens:               true, // a lease has a fencing token
		ReportsLossAtRelease: true, // Release returns ErrLost
	}
	locktest.Run(t, config, func(env *locktest.Env) (locks.Lock, error) {
		db, err := open(env)
		if err != nil {
			return nil, err
		}
		return adapter{New(db, env.Key(), env.TTL())}, nil
	})
}

// open connects to the simulated server.
func open(env *locktest.Env) (*pgxpool.Pool, error) {
	connection, err := postgres.Config(env.Base())
	if err != nil {
		return nil, err
	}
	config, err := pgxpool.ParseConfig("")
	if err != nil {
		return nil, err
	}
	config.ConnConfig = connection
	ctx := context.Background()
	db, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	env.Cleanup(db.Close)
	_, err = db.Exec(ctx, Table)
	return db, err
}
