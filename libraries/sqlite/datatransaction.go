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
type dataTransaction struct {
	*transaction
	hasUncommitted bool // there are uncommitted writes
	isCommitted    bool // the transaction is committed
}

// Read is as in [locks.Keeper].
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

// Write is as in [locks.Keeper]. A commit that fails is rolled back by the driver.
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

// inTx calls f in the transaction, if that is still open.
func (k *dataTransaction) inTx(ctx context.Context, f func(context.Context) error) error {
	if k.handle.current != k.transaction || k.isOver() {
		return fmt.Errorf("%w: the transaction is over", locks.ErrLost)
	}
	return k.handle.use(ctx, func(ctx context.Context, _ *sql.DB) error { return f(ctx) })
}

// Release ends the transaction. Writes that the client has not committed are rolled back.
func (k *dataTransaction) Release(ctx context.Context) error {
	switch {
	case k.isCommitted:
		return nil
	case k.hasUncommitted && k.handle.current == k.transaction && !k.isOver():
		return k.handle.use(ctx, func(context.Context, *sql.DB) error {
			k.handle.end()
			return nil
		})
	}
	return k.transaction.Release(ctx)
}
