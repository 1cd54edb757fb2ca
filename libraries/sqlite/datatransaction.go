package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/locksim/locksim/locks"
)

// The statements for data that is kept in the file under the lock.
const (
	objects     = `CREATE TABLE IF NOT EXISTS objects (name TEXT PRIMARY KEY, version INTEGER NOT NULL, value TEXT NOT NULL)`
	readObject  = `SELECT version FROM objects WHERE name = ?1`
	writeObject = `INSERT INTO objects AS o (name, version, value) VALUES (?1, 1, ?2)
		ON CONFLICT (name) DO UPDATE SET version = o.version + 1, value = excluded.value
		RETURNING version`
)

// dataTransaction is a transaction of a lock whose data is in the same file.
type keeping struct {
	*transaction
	wrote bool // there are uncommitted writes
	done  bool // the transaction is committed
}

// Read is as in [locks.Keeper].
func (k *keeping) Read(ctx context.Context, object string) (version int, err error) {
	err = k.says(ctx, func(ctx context.Context) error {
		err := k.tx.QueryRowContext(ctx, readObject, object).Scan(&version)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return version, err
}

// Write is as in [locks.Keeper]. A commit that fails is rolled back by the driver.
func (k *keeping) Write(ctx context.Context, object, value string, last bool) (version int, err error) {
	err = k.says(ctx, func(ctx context.Context) error {
		k.wrote = true
		if err := k.tx.QueryRowContext(ctx, writeObject, object, value).Scan(&version); err != nil || !last {
			return err
		}
		k.of.in = nil
		return k.tx.Commit()
	})
	k.done = err == nil && last
	return version, err
}

// inTx calls f in the transaction, if that is still open.
func (k *keeping) says(ctx context.Context, f func(context.Context) error) error {
	if k.of.in != k.transaction || k.over() {
		return fmt.Errorf("%w: the transaction is over", locks.ErrLost)
	}
	return k.of.use(ctx, func(ctx context.Context, _ *sql.DB) error { return f(ctx) })
}

// Release ends the transaction. Writes that the client has not committed are rolled back.
func (k *keeping) Release(ctx context.Context) error {
	switch {
	case k.done:
		return nil
	case k.wrote && k.of.in == k.transaction && !k.over():
		return k.of.use(ctx, func(context.Context, *sql.DB) error {
			k.of.end()
			return nil
		})
	}
	return k.transaction.Release(ctx)
}
