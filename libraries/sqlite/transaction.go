package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"

	"github.com/locksim/locksim/locks"
)

func init() {
	elsewhere := func(x *transaction) locks.Lease { return x }
	locks.Provide("sqlite-transaction", openTransactions(`CREATE TABLE IF NOT EXISTS work (what TEXT)`, elsewhere))
	inFile := func(x *transaction) locks.Lease { return &dataTransaction{transaction: x} }
	locks.Provide("sqlite-transaction-data", openTransactions(objects, inFile))
}

// openTransactions returns a constructor of locks whose leases are transactions on a
// database with a table.
func openTransactions(table string, make func(*transaction) locks.Lease) func(*locks.Env) (locks.Lock, error) {
	return func(e *locks.Env) (locks.Lock, error) {
		s, err := Open(e, locks.SQLiteFile(e.Key), table)
		if err != nil {
			return nil, err
		}
		t := &transactions{Session: s, make: make}
		e.Cleanup(t.end)
		return t, nil
	}
}

// transactions is a handle on a database to which nobody else can write while its
// transaction lasts.
type transactions struct {
	*Session
	make    func(*transaction) locks.Lease
	current *transaction // nil if there is none
}

// errInTransaction is the error of a handle that tries to acquire the lock while it holds
// it. Its connection is in a transaction, and database/sql would wait in vain for a second
// connection.
var errInTransaction = errors.New("this handle is in a transaction")

// Acquire begins a transaction. An earlier transaction whose file was closed is forgotten
// first.
func (t *transactions) Acquire(ctx context.Context) (locks.Lease, error) {
	if t.current != nil && !t.current.isOver() {
		return nil, fmt.Errorf("%w: %w", locks.ErrNotAcquired, errInTransaction)
	}
	t.end()
	x := &transaction{handle: t}
	err := t.use(ctx, func(ctx context.Context, db *sql.DB) (err error) {
		x.tx, err = db.BeginTx(ctx, nil) // IMMEDIATE, as Open sets it
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", locks.ErrNotAcquired, err)
	}
	t.current, x.conn = x, t.files.conn
	return t.make(x), nil
}

// end makes database/sql forget the current transaction, and rolls it back if it is open.
func (t *transactions) end() {
	if t.current != nil {
		_ = t.current.tx.Rollback()
		t.current = nil
	}
}

// A transaction lasts as long as its process has the file open.
type transaction struct {
	handle *transactions
	tx     *sql.Tx
	conn   net.Conn
}

// isOver reports whether the file has been closed since the transaction began.
func (x *transaction) isOver() bool {
	return x.handle.files.broken != nil || x.handle.files.conn != x.conn
}

// Release commits the transaction.
func (x *transaction) Release(ctx context.Context) error {
	if x.handle.current != x || x.isOver() {
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
