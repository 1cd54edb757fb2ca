// Package shedlock has a row of PostgreSQL that is written as ShedLock 7.9, a library for Java,
// writes it. The statements are those of its SQL providers, with their parameters. The library
// itself does not run here.
package shedlock

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/libraries/postgres"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// statements are what ShedLock 7.9.0 sends to PostgreSQL (github.com/lukas-krecan/ShedLock, Apache
// License 2.0), with numbers in place of its named parameters.
type statements struct {
	table, lock, extend, unlock string
	// clientTime means that the statements have the client's time as parameters. Otherwise the
	// database reads its clock.
	clientTime bool
}

const table = `CREATE TABLE IF NOT EXISTS shedlock (name varchar(64) PRIMARY KEY, lock_until timestamp NOT NULL,
	locked_at timestamp NOT NULL, locked_by varchar(255) NOT NULL)`

// clientTime are the statements that ShedLock sends by default.
var clientTime = statements{
	table: table,
	lock: `INSERT INTO shedlock(name, lock_until, locked_at, locked_by) VALUES($1, $2, $3, $4)
		ON CONFLICT (name) DO UPDATE SET lock_until = $2, locked_at = $3, locked_by = $4
		WHERE shedlock.lock_until <= $3`,
	extend: `UPDATE shedlock SET lock_until = $2 WHERE name = $1 AND locked_by = $4 AND lock_until > $3`,
	unlock: `UPDATE shedlock SET lock_until = $2 WHERE name = $1 AND locked_by = $3`,

	clientTime: true,
}

// beforeVersion7 has the unlock of the versions before 7.0, which names no holder.
func (s statements) beforeVersion7() statements {
	s.unlock = `UPDATE shedlock SET lock_until = $2 WHERE name = $1`
	return s
}

// databaseTime are the statements with the option usingDbTime.
var databaseTime = statements{
	table: table,
	lock: `INSERT INTO shedlock(name, lock_until, locked_at, locked_by) VALUES($1,
		timezone('utc', CURRENT_TIMESTAMP) + make_interval(secs => $2), timezone('utc', CURRENT_TIMESTAMP), $3)
		ON CONFLICT (name) DO UPDATE SET lock_until = timezone('utc', CURRENT_TIMESTAMP) + make_interval(secs => $2),
		locked_at = timezone('utc', CURRENT_TIMESTAMP), locked_by = $3
		WHERE shedlock.name = $1 AND shedlock.lock_until <= timezone('utc', CURRENT_TIMESTAMP)`,
	extend: `UPDATE shedlock SET lock_until = timezone('utc', CURRENT_TIMESTAMP) + make_interval(secs => $2)
		WHERE name = $1 AND locked_by = $3 AND lock_until > timezone('utc', CURRENT_TIMESTAMP)`,
	unlock: `UPDATE shedlock SET lock_until = CASE WHEN locked_at + make_interval(secs => $2) > timezone('utc', CURRENT_TIMESTAMP)
		THEN locked_at + make_interval(secs => $2) ELSE timezone('utc', CURRENT_TIMESTAMP) END
		WHERE name = $1 AND locked_by = $3`,
}

// row is a lock of ShedLock. host is the name of the machine, which is ShedLock's lockedBy
// unless it is told otherwise: all locks of one machine have the same.
type row struct {
	statements
	db         *sql.DB
	clock      fakeclock.Clock
	name, host string
	ttl        time.Duration
}

// now returns the time in the milliseconds that ShedLock writes.
func (r row) now() time.Time { return r.clock.Now().UTC().Truncate(time.Millisecond) }

// execute executes a statement that makes the lease last for d, and reports whether it has
// changed a row.
func (r row) execute(ctx context.Context, statement string, d time.Duration) (bool, error) {
	args := []any{r.name, d.Seconds(), r.host}
	if now := r.now(); r.clientTime {
		args = []any{r.name, now.Add(d), now, r.host}
		if statement == r.unlock {
			args = []any{r.name, now.Add(d), r.host}[:strings.Count(statement, "$")]
		}
	}
	result, err := r.db.ExecContext(ctx, statement, args...)
	if err != nil {
		return false, err
	}
	rows, err := result.RowsAffected()
	return rows > 0, err
}

func (r row) Acquire(ctx context.Context) (locks.Lease, error) {
	taken, err := r.execute(ctx, r.lock, r.ttl)
	if err == nil && !taken {
		err = locks.ErrNotAcquired
	}
	return &lease{row: r}, err
}

type lease struct {
	row
	released bool
}

// Release does not look at the number of rows, and a second call fails: both as in ShedLock's
// unlock.
func (l *lease) Release(ctx context.Context) error {
	if l.released {
		return locks.ErrLost
	}
	l.released = true
	_, err := l.execute(ctx, l.unlock, 0)
	return err
}

func (l *lease) Extend(ctx context.Context) error {
	extended, err := l.execute(ctx, l.extend, l.ttl)
	if err == nil && !extended {
		err = locks.ErrLost
	}
	return err
}

func TestClientTime(t *testing.T) { run(t, clientTime) }

func TestClientTimeBeforeVersion7(t *testing.T) { run(t, clientTime.beforeVersion7()) }

func TestDatabaseTime(t *testing.T) { run(t, databaseTime) }

func run(t *testing.T, s statements) {
	config := locktest.Config{
		System: locks.Postgres, Extends: true, OwnClock: true, Known: "known.json",
		Slots: func(key string, _ int) ([]locks.Slot, int) {
			return []locks.Slot{{Node: 0, Key: locks.PostgresLease("shedlock", key, "locked_by", "lock_until")}}, 1
		},
		// Those scenarios are about other kinds of locks on PostgreSQL.
		Stories: func(testCase string) bool { return !strings.HasPrefix(testCase, "catalogue/postgres-") },
	}
	locktest.Run(t, config, func(env *locktest.Env) (locks.Lock, error) {
		config, err := postgres.Config(env.Base())
		if err != nil {
			return nil, err
		}
		db := locks.Share(env.Base(), "pool", func() *sql.DB {
			db := stdlib.OpenDB(*config)
			env.Cleanup(func() { _ = db.Close() })
			_, err = db.Exec(s.table)
			return db
		})
		return row{s, db, env.Clock(), env.Key(), env.Client(), env.TTL()}, err
	})
}
