package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/locksim/locksim/locks"
)

func init() {
	locks.Provide("postgres-none", func(e *locks.Env) (locks.Lock, error) {
		return openBeside(e, "SELECT 1")
	})
}

// The statements for data that a lock protects and that the holder of the lock writes in
// the lock's own transaction.
const (
	objectsTable = `CREATE TABLE IF NOT EXISTS objects (name text PRIMARY KEY, version bigint NOT NULL, value text NOT NULL);`
	readObject   = `SELECT version FROM objects WHERE name = $1`
	writeObject  = `INSERT INTO objects AS o (name, version, value) VALUES ($1, 1, $2)
		ON CONFLICT (name) DO UPDATE SET version = o.version + 1, value = excluded.value
		RETURNING version`
)

// A querier executes a query: it is a connection or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// read returns the version of an object; 0 if it does not exist.
func read(ctx context.Context, q querier, object string) (version int, err error) {
	err = q.QueryRow(ctx, readObject, object).Scan(&version)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	return version, err
}

// write writes an object and returns its new version.
func write(ctx context.Context, q querier, object, value string) (version int, err error) {
	err = q.QueryRow(ctx, writeObject, object, value).Scan(&version)
	return version, err
}

// The statements for data that is kept in the database beside the lock, outside of the
// lock's own statements. updateObject writes in any case. compareObject writes only if the
// object has the version that the writer knows.
const (
	addObject     = `INSERT INTO objects (name, version, value) VALUES ($1, 0, '') ON CONFLICT DO NOTHING`
	updateObject  = `UPDATE objects SET version = version + 1, value = $2 WHERE name = $1 RETURNING version`
	compareObject = `UPDATE objects SET version = version + 1, value = $2 WHERE name = $1 AND version = $3 RETURNING version`
)

// besideData reads and writes a handle's data beside the lock, on the handle's connection. It is
// also a lock, which every client gets whenever it asks.
type besideData struct {
	*Session
	comparesVersion bool // a write compares the object's version
}

// openBeside calls [Open] for the handle of a lock. If the world has data beside the lock,
// it also sets the data up.
func openBeside(e *locks.Env, setup string, statements ...string) (besideData, error) {
	d := e.Data
	if d == nil {
		s, err := Open(e, setup, statements...)
		return besideData{Session: s}, err
	}
	s, err := Open(e, objectsTable+setup, append(statements, readObject, updateObject, compareObject)...)
	if err != nil {
		return besideData{}, err
	}
	e.OnWarmUp(func(ctx context.Context) {
		for _, object := range d.Objects {
			_, _ = use(ctx, s, func(ctx context.Context, c *pgx.Conn) (pgconn.CommandTag, error) {
				return c.Exec(ctx, addObject, object)
			})
		}
	})
	return besideData{s, d.ComparesVersion}, nil
}

// Read is as in [locks.DataClient].
func (b besideData) Read(ctx context.Context, object string) (version int, err error) {
	return use(ctx, b.Session, func(ctx context.Context, c *pgx.Conn) (int, error) { return read(ctx, c, object) })
}

// Write is as in [locks.DataClient]. knownVersion is the version that the writer has read.
func (b besideData) Write(ctx context.Context, object, value string, knownVersion int) (version int, err error) {
	version, err = use(ctx, b.Session, func(ctx context.Context, c *pgx.Conn) (n int, err error) {
		if !b.comparesVersion {
			err = c.QueryRow(ctx, updateObject, object, value).Scan(&n)
		} else {
			err = c.QueryRow(ctx, compareObject, object, value, knownVersion).Scan(&n)
		}
		return n, err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, fmt.Errorf("postgres: %w", locks.ErrChanged)
	}
	return version, err
}

// Acquire implements [locks.Lock]. It always succeeds.
func (b besideData) Acquire(context.Context) (locks.Lease, error) { return freeGrant{}, nil }

// A freeGrant is a grant of no lock at all.
type freeGrant struct{}

// Release implements [locks.Lease]. It does nothing.
func (freeGrant) Release(context.Context) error { return nil }
