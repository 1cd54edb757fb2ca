package learn

import (
	"context"
	"crypto/rand"
	"database/sql"
	"time"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/locksim/locksim/libraries/postgres"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// rowLock is held by a row of a table, which names the holder and the end of the lease.
type rowLock struct {
	db  *sql.DB
	key string
	ttl time.Duration
}

const (
	createTable = `CREATE TABLE IF NOT EXISTS locks (name text PRIMARY KEY, holder text NOT NULL, expires_at timestamptz NOT NULL)`
	take        = `INSERT INTO locks AS l VALUES ($1, $2, now() + $3::interval)
		ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
		WHERE l.expires_at < now()`
)

func (l rowLock) take(ctx context.Context) (holder string, err error) {
	holder = rand.Text()
	result, err := l.db.ExecContext(ctx, take, l.key, holder, l.ttl.String())
	if err != nil {
		return "", err
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		return "", locks.ErrNotAcquired
	}
	return holder, nil
}

func newRowLock(env *locktest.Env) (rowLock, error) {
	config, err := postgres.Config(env.Base())
	if err != nil {
		return rowLock{}, err
	}
	db := stdlib.OpenDB(*config)
	env.Cleanup(func() { _ = db.Close() })
	_, err = db.Exec(createTable)
	return rowLock{db, env.Key(), env.TTL()}, err
}
