package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/locksim/locksim/locks"
)

// The statements for data in the file that the lock protects: one row for each object.
const (
	createObjects = `CREATE TABLE IF NOT EXISTS objects (name TEXT PRIMARY KEY, version INTEGER NOT NULL, value TEXT NOT NULL)`
	readObject    = `SELECT version FROM objects WHERE name = ?1`
	writeObject   = `INSERT INTO objects AS o (name, version, value) VALUES (?1, 1, ?2)
		ON CONFLICT (name) DO UPDATE SET version = o.version + 1, value = excluded.value
		RETURNING version`
)

// A dataTransaction is a transaction of a lock whose data is in the same file.
type dataTransaction struct {
	*transaction
	hasUncommitted bool // the transaction has written data, and is not committed
	isCommitted    bool // the transaction is committed
}

// Read implements [locks.Keeper].
func (k *dataTransaction) Read(ctx context.Context, object string) (version int, err error) {
	err = k.inTx(ctx, func(ctx context.Context) error {
		err := k.tx.QueryRowContext(ctx, readObject, object).Scan(&version)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return version, err
}

// Write implements [locks.Keeper]. The last write also commits the transaction. If the
// commit fails, the driver rolls the transaction back.
func (k *dataTransaction) Write(ctx context.Context, object, value string, last bool) (version int, err error) {
	err = k.inTx(ctx, func(ctx context.Context) error {
		k.hasUncommitted = true
		if err := k.tx.QueryRowContext(ctx, writeObject, object, value).Scan(&version); err != nil || !last {
			return err
		}
		k.handle.current = nil
		return k.tx.Commit()
	})
	k.isCommitted = err == nil && last
	return version, err
}

// inTx calls f if the transaction is still open, and otherwise returns an error.
func (k *dataTransaction) inTx(ctx context.Context, f func(context.Context) error) error {
	if k.handle.current != k.transaction || k.isLost() {
		return fmt.Errorf("%w: the transaction has ended", locks.ErrLost)
	}
	return k.handle.use(ctx, func(ctx context.Context, _ *sql.DB) error { return f(ctx) })
}

// Release ends the transaction. If the client has written something and not committed it,
// that is rolled back.
func (k *dataTransaction) Release(ctx context.Context) error {
	switch {
	case k.isCommitted:
		return nil
	case k.hasUncommitted && k.handle.current == k.transaction && !k.isLost():
		return k.handle.use(ctx, func(context.Context, *sql.DB) error {
			k.handle.forgetCurrent()
			return nil
		})
	}
	return k.transaction.Release(ctx)
}
