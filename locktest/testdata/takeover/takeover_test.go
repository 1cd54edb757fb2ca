package takeover

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/locksim/locksim/libraries/postgres"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// row is a lock in a row of PostgreSQL. A client takes the row over when the lease of its
// holder has ended, by the server's clock.
type row struct {
	db   *sql.DB
	name string
	ttl  time.Duration
}

const table = `CREATE TABLE IF NOT EXISTS jobs (name text PRIMARY KEY, worker text NOT NULL, until timestamptz NOT NULL)`

const take = `INSERT INTO jobs AS old (name, worker, until) VALUES ($1, $2, clock_timestamp() + $3::interval)
	ON CONFLICT (name) DO UPDATE SET worker = excluded.worker, until = excluded.until
	WHERE old.until < clock_timestamp()`

const remove = `DELETE FROM jobs WHERE name = $1 AND worker = $2 AND until > clock_timestamp()`

func (r row) Acquire(ctx context.Context) (locks.Lease, error) {
	own := lease{r, rand.Text()}
	end := time.Now().Add(r.ttl)
	taken, err := affects(r.db.ExecContext(ctx, take, r.name, own.worker, r.ttl.String()))
	switch {
	case err == nil && !taken:
		return nil, locks.ErrNotAcquired
	case err == nil && time.Now().Before(end):
		return own, nil
	}
	// The row may name this worker although the answer is an error or came too late.
	cleanUp, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.ttl)
	defer cancel()
	_ = own.Release(cleanUp)
	return nil, errors.Join(locks.ErrNotAcquired, err)
}

type lease struct {
	row
	worker string
}

func (l lease) Release(ctx context.Context) error {
	removed, err := affects(l.db.ExecContext(ctx, remove, l.name, l.worker))
	if err == nil && !removed {
		err = locks.ErrLost
	}
	return err
}

// affects reports whether a statement has changed a row.
func affects(result sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	rows, err := result.RowsAffected()
	return rows > 0, err
}

func TestTakeover(t *testing.T) {
	config := locktest.Config{
		System:               locks.Postgres,
		ReportsLossAtRelease: true,
		// Without Slots the suite looks for a table locks.
		Slots: func(key string, _ int) ([]locks.Slot, int) {
			return []locks.Slot{{Node: 0, Key: locks.PostgresLease("jobs", key, "worker", "until")}}, 1
		},
	}
	locktest.Run(t, config, func(env *locktest.Env) (locks.Lock, error) {
		config, err := postgres.Config(env.Base())
		if err != nil {
			return nil, err
		}
		db := stdlib.OpenDB(*config)
		env.Cleanup(func() { _ = db.Close() })
		_, err = db.Exec(table)
		return row{db, env.Key(), env.TTL()}, err
	})
}
