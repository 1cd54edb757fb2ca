package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
)

// What the data is kept by that is in the database.
const (
	objectsTable = `CREATE TABLE IF NOT EXISTS objects (name text PRIMARY KEY, version bigint NOT NULL, value text NOT NULL);`
	readObject   = `SELECT version FROM objects WHERE name = $1`
	writeObject  = `INSERT INTO objects AS o (name, version, value) VALUES ($1, 1, $2)
		ON CONFLICT (name) DO UPDATE SET version = o.version + 1, value = excluded.value
		RETURNING version`
)

// A querier is a connection or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// read is at which version an object is; 0 is that there is none yet.
func read(ctx context.Context, by querier, object string) (version int, err error) {
	err = by.QueryRow(ctx, readObject, object).Scan(&version)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	return version, err
}

// write writes an object, and returns at which version it is then.
func write(ctx context.Context, by querier, object, value string) (version int, err error) {
	err = by.QueryRow(ctx, writeObject, object, value).Scan(&version)
	return version, err
}
