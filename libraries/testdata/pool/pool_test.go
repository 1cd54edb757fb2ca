// Package pool has two locks that are advisory locks of PostgreSQL, taken through a pool of
// connections of database/sql that other work uses too. One is wrong: it lets the pool choose
// the connection for each statement. The other one keeps its connection.
package pool

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/locksim/locksim/libraries/postgres"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// anyConnection is an advisory lock that takes any connection of the pool for each statement.
type anyConnection struct {
	db     *sql.DB
	number int64
}

func (l anyConnection) Acquire(ctx context.Context) (locks.Lease, error) {
	var taken bool
	err := l.db.QueryRowContext(ctx, `SELECT pg_try_advisory_lock($1)`, l.number).Scan(&taken)
	if err == nil && !taken {
		err = locks.ErrNotAcquired
	}
	return l, err
}

// Release does not look at the answer of the server, which is false if the session does not
// hold the lock.
func (l anyConnection) Release(ctx context.Context) error {
	_, err := l.db.ExecContext(ctx, `SELECT pg_advisory_unlock($1)`, l.number)
	return err
}

// oneConnection is an advisory lock that keeps its connection from acquire to release.
type oneConnection struct {
	db     *sql.DB
	number int64
}

func (l oneConnection) Acquire(ctx context.Context) (locks.Lease, error) {
	conn, err := l.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	var taken bool
	err = conn.QueryRowContext(ctx, `SELECT pg_try_advisory_lock($1)`, l.number).Scan(&taken)
	switch {
	case err != nil:
		discard(conn) // the server may have granted the lock
		return nil, err
	case !taken:
		return nil, errors.Join(locks.ErrNotAcquired, conn.Close())
	}
	return oneLease{l, conn}, nil
}

type oneLease struct {
	oneConnection
	conn *sql.Conn
}

func (l oneLease) Release(ctx context.Context) error {
	var released bool
	err := l.conn.QueryRowContext(ctx, `SELECT pg_advisory_unlock($1)`, l.number).Scan(&released)
	if err == nil && !released {
		err = locks.ErrLost
	}
	if err != nil {
		discard(l.conn) // the end of the session ends the lock, too
		return err
	}
	return l.conn.Close()
}

// discard closes a connection instead of returning it to the pool.
func discard(conn *sql.Conn) {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn })
}

// A busyPool is a lock whose holder does other work on the same pool: it has a connection of
// its own during each section.
type busyPool struct {
	locks.Lock
	db *sql.DB
}

func (p busyPool) Acquire(ctx context.Context) (locks.Lease, error) {
	lease, err := p.Lock.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	// The pool gives out the connection that was returned last.
	conn, _ := p.db.Conn(ctx)
	return busyLease{lease, conn}, nil
}

type busyLease struct {
	locks.Lease
	work *sql.Conn // nil if the pool had none
}

func (l busyLease) Release(ctx context.Context) error {
	err := l.Lease.Release(ctx)
	if l.work != nil {
		_ = l.work.Close()
	}
	return err
}

func TestAnyConnection(t *testing.T) {
	run(t, func(db *sql.DB, number int64) locks.Lock { return anyConnection{db, number} })
}

func TestOneConnection(t *testing.T) {
	run(t, func(db *sql.DB, number int64) locks.Lock { return oneConnection{db, number} })
}

// run runs the suite against a lock that is made from a pool. All handles of a client share the
// pool.
func run(t *testing.T, newLock func(*sql.DB, int64) locks.Lock) {
	config := locktest.Config{
		System: locks.Postgres, Endless: true,
		Slots: func(key string, _ int) ([]locks.Slot, int) {
			return []locks.Slot{{Node: 0, Key: "advisory/" + strconv.FormatInt(locks.PostgresNumber(key), 10)}}, 1
		},
		// No advisory lock of a session survives a pooler in transaction mode.
		Stories: func(testCase string) bool { return !strings.HasPrefix(testCase, "catalogue/postgres-pooler") },
	}
	locktest.Run(t, config, func(env *locktest.Env) (locks.Lock, error) {
		config, err := postgres.Config(env.Base())
		if err != nil {
			return nil, err
		}
		db := locks.Share(env.Base(), "pool", func() *sql.DB {
			db := stdlib.OpenDB(*config)
			env.Cleanup(func() { _ = db.Close() })
			return db
		})
		return busyPool{newLock(db, locks.PostgresNumber(env.Key())), db}, nil
	})
}
