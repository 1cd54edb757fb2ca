package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"

	"github.com/locksim/locksim/locks"
)

// A client holds one of these locks while it has a transaction on a file. Only one process at a
// time can have such a transaction, because the transaction reserves the file for writing.
// sqlite-transaction protects data elsewhere, and sqlite-transaction-data protects data in the same
// file.
func init() {
	elsewhere := func(x *transaction) locks.Lease { return x }
	locks.Provide("sqlite-transaction", openTransactions(`CREATE TABLE IF NOT EXISTS work (what TEXT)`, elsewhere))
	inFile := func(x *transaction) locks.Lease { return &dataTransaction{transaction: x} }
	locks.Provide("sqlite-transaction-data", openTransactions(createObjects, inFile))
}

// openTransactions returns a function that makes locks whose leases are transactions. The
// statement table makes a table in the file, and make turns a transaction into a lease.
func openTransactions(table string, make func(*transaction) locks.Lease) func(*locks.Env) (locks.Lock, error) {
	return func(e *locks.Env) (locks.Lock, error) {
		s, err := Open(e, locks.SQLiteFile(e.Key), table)
		if err != nil {
			return nil, err
		}
		t := &transactions{Session: s, make: make}
		e.Cleanup(t.forgetCurrent)
		return t, nil
	}
}

// transactions is a handle of such a lock. Its current transaction is the lease.
type transactions struct {
	*Session
	make    func(*transaction) locks.Lease
	current *transaction // nil if there is none
}

// errInTransaction is the error of a handle that already holds the lock and tries to acquire it.
// Its only connection is in a transaction, and database/sql would wait for this connection in vain.
var errInTransaction = errors.New("this handle already has an open transaction")

// Acquire begins a transaction. It first forgets an earlier transaction that was lost
// because the file was closed.
func (t *transactions) Acquire(ctx context.Context) (locks.Lease, error) {
	if t.current != nil && !t.current.isLost() {
		return nil, fmt.Errorf("%w: %w", locks.ErrNotAcquired, errInTransaction)
	}
	t.forgetCurrent()
	x := &transaction{handle: t}
	err := t.use(ctx, func(ctx context.Context, db *sql.DB) (err error) {
		x.tx, err = db.BeginTx(ctx, nil) // BEGIN IMMEDIATE, as Open has set it: this reserves the file
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", locks.ErrNotAcquired, err)
	}
	t.current, x.conn = x, t.files.conn
	return t.make(x), nil
}

// forgetCurrent rolls the current transaction back if it is still open, and forgets it.
func (t *transactions) forgetCurrent() {
	if t.current != nil {
		_ = t.current.tx.Rollback()
		t.current = nil
	}
}

// A transaction is a lease that lasts until the process commits it or closes the file. conn
// is the connection to the machine on which it began.
type transaction struct {
	handle *transactions
	tx     *sql.Tx
	conn   net.Conn
}

// isLost reports whether the file was closed since the transaction began, so that the
// transaction is lost.
func (x *transaction) isLost() bool {
	return x.handle.files.broken != nil || x.handle.files.conn != x.conn
}

// Release commits the transaction, which releases the file.
func (x *transaction) Release(ctx context.Context) error {
	if x.handle.current != x || x.isLost() {
		return fmt.Errorf("%w before it was released", locks.ErrLost)
	}
	err := x.handle.use(ctx, func(context.Context, *sql.DB) error {
		x.handle.current = nil
		return x.tx.Commit()
	})
	if err != nil {
		return fmt.Errorf("lock not released: %w", err)
	}
	return nil
}
