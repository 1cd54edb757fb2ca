package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/locksim/locksim/locks"
)

func init() {
	locks.Provide("postgres-advisory", func(e *locks.Env) (locks.Lock, error) {
		return openAdvisory(e, fence, tryLock, unlock)
	})
	locks.Provide("postgres-advisory-data", func(e *locks.Env) (locks.Lock, error) {
		a, err := openAdvisory(e, objectsTable+fence, tryLock, unlock, readObject, writeObject)
		return advisoryWithData{a}, err
	})
}

// openAdvisory returns a handle on the advisory lock of e. The setup and the statements are
// as in [Open].
func openAdvisory(e *locks.Env, setup string, statements ...string) (*advisory, error) {
	s, err := Open(e, setup, statements...)
	return &advisory{Session: s, env: e, number: locks.PostgresNumber(e.Key)}, err
}

const (
	fence   = `CREATE SEQUENCE IF NOT EXISTS fence`
	tryLock = `SELECT CASE WHEN pg_try_advisory_lock($1) THEN nextval('fence') END`
	unlock  = `SELECT pg_advisory_unlock($1)`
)

// advisory is a handle on an advisory lock. Each handle has its own connection, because the
// server does not distinguish the clients of one connection.
type advisory struct {
	*Session
	env       *locks.Env
	number    int64
	lastGrant *grant // the last grant, which may have ended; nil if there was none
}

// errHeld is the error of a handle that tries to acquire the lock while it holds it. The
// server would grant the lock again. It counts the grants of a session, and frees the lock
// only after as many unlocks.
var errHeld = errors.New("this handle already holds it, and the server would grant it to the same connection again")

// Acquire tries once to acquire the lock. If the server does not reply, the connection is
// closed, because the server may have granted the lock to it.
func (a *advisory) Acquire(ctx context.Context) (locks.Lease, error) {
	g, err := a.acquire(ctx)
	if err != nil {
		return nil, err
	}
	return g, nil
}

// acquire tries once to acquire the lock.
func (a *advisory) acquire(ctx context.Context) (*grant, error) {
	g := &grant{handle: a}
	token, err := use(ctx, a.Session, func(ctx context.Context, c *pgx.Conn) (token *int64, err error) {
		if a.lastGrant != nil && a.lastGrant.conn == c {
			return nil, errHeld
		}
		g.conn = c
		return token, c.QueryRow(ctx, tryLock, a.number).Scan(&token)
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", locks.ErrNotAcquired, err)
	case token == nil:
		return nil, fmt.Errorf("%w: another client holds it", locks.ErrNotAcquired)
	}
	g.token, a.lastGrant = uint64(*token), g
	return g, nil
}

// A grant is the lock as one handle holds it. It lasts as long as its connection.
type grant struct {
	handle *advisory
	conn   *pgx.Conn
	token  uint64
}

// Token returns the next number of a sequence. The number was drawn by the statement that
// acquired the lock, so no other client can have held the lock in between.
func (g *grant) Token() uint64 { return g.token }

// Release releases the lock. It fails with [locks.ErrLost] if the handle has a new
// connection, because the lock ended with the old one.
func (g *grant) Release(ctx context.Context) error {
	isReleased, err := use(ctx, g.handle.Session, func(ctx context.Context, c *pgx.Conn) (isReleased bool, err error) {
		if c != g.conn || g.handle.lastGrant != g {
			return false, nil
		}
		g.handle.lastGrant = nil
		return isReleased, c.QueryRow(ctx, unlock, g.handle.number).Scan(&isReleased)
	})
	switch {
	case err != nil:
		return fmt.Errorf("lock not released: %w", err)
	case !isReleased:
		return fmt.Errorf("%w before it was released", locks.ErrLost)
	}
	return nil
}

// advisoryWithData is a handle on an advisory lock that protects data in the database.
type advisoryWithData struct{ *advisory }

// Acquire is as in [advisory.Acquire].
func (a advisoryWithData) Acquire(ctx context.Context) (locks.Lease, error) {
	g, err := a.acquire(ctx)
	if err != nil {
		return nil, err
	}
	return &dataGrant{lock: g}, nil
}

// A dataGrant is a grant whose holder reads and writes data in a transaction. The
// transaction begins after the lock was acquired and ends before the lock is released.
type dataGrant struct {
	lock *grant
	tx   pgx.Tx // nil if there is no transaction
}

// inTx calls f in the transaction, on the connection that holds the lock. It begins the
// transaction if there is none.
func (w *dataGrant) inTx(ctx context.Context, f func(context.Context) error) error {
	_, err := use(ctx, w.lock.handle.Session, func(ctx context.Context, c *pgx.Conn) (_ struct{}, err error) {
		if c != w.lock.conn {
			return struct{}{}, fmt.Errorf("%w with its connection", locks.ErrLost)
		}
		if w.tx == nil {
			if w.tx, err = c.Begin(ctx); err != nil {
				return struct{}{}, err
			}
		}
		return struct{}{}, f(ctx)
	})
	return err
}

// Read is as in [locks.Keeper].
func (w *dataGrant) Read(ctx context.Context, object string) (version int, err error) {
	err = w.inTx(ctx, func(ctx context.Context) error {
		version, err = read(ctx, w.tx, object)
		return err
	})
	return version, err
}

// Write is as in [locks.Keeper]. If last is true, it commits the transaction.
func (w *dataGrant) Write(ctx context.Context, object, value string, last bool) (version int, err error) {
	err = w.inTx(ctx, func(ctx context.Context) error {
		if version, err = write(ctx, w.tx, object, value); err != nil || !last {
			return err
		}
		err := w.tx.Commit(ctx)
		w.tx = nil
		return err
	})
	return version, err
}

// Stays is as in [locks.Stayer]: the last write does not release the lock.
func (w *dataGrant) Stays() {}

// Release ends the transaction, if it is still open, and releases the lock.
func (w *dataGrant) Release(ctx context.Context) error {
	if w.tx != nil {
		_ = w.inTx(ctx, w.tx.Rollback)
		w.tx = nil
	}
	return w.lock.Release(ctx)
}
