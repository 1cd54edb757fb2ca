package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/locks"
)

func init() {
	for name, make := range map[string]func(*held) locks.Lease{
		"postgres-row":             func(h *held) locks.Lease { return heldWithData{h} },
		"postgres-row-timeout":     func(h *held) locks.Lease { return heldWithTimeout{heldWithData{h}} },
		"postgres-row-elsewhere":   func(h *held) locks.Lease { return heldWithToken{h} },
		"postgres-queue":           func(h *held) locks.Lease { return heldWithData{h} },
		"postgres-queue-elsewhere": newAttempt,

		"postgres-advisory-transaction": func(h *held) locks.Lease { return heldWithData{h} },
	} {
		locks.Provide(name, func(e *locks.Env) (locks.Lock, error) {
			return openItem(e, name, make)
		})
	}
}

// A claim is how a lock locks something in a transaction: a row, a job or a number. A row
// or a job exists before the run begins.
type claim struct {
	tables, add, lock string
	// count is the statement that returns a fencing token once the row is locked; "" if
	// there is none.
	count string
	// none is the error text if lock finds nothing and does not wait.
	none string
	// parameter returns the parameter of lock for the lock's name.
	parameter func(key string) any
}

func keyItself(key string) any { return key }

// rowClaim locks a row that represents what the clients work on.
var rowClaim = claim{
	tables: objectsTable + `
		CREATE TABLE IF NOT EXISTS items (name text PRIMARY KEY);
		CREATE SEQUENCE IF NOT EXISTS fence`,
	add:       `INSERT INTO items (name) VALUES ($1) ON CONFLICT DO NOTHING`,
	lock:      `SELECT name FROM items WHERE name = $1 FOR UPDATE`,
	parameter: keyItself,
}

// jobClaim locks a job in a queue. The job is queued again after it was done.
var jobClaim = claim{
	tables: objectsTable + `
		CREATE TABLE IF NOT EXISTS jobs (name text PRIMARY KEY, queue text NOT NULL, attempts bigint NOT NULL)`,
	add:       `INSERT INTO jobs (name, queue, attempts) VALUES ($1, $1, 0) ON CONFLICT DO NOTHING`,
	lock:      `SELECT name FROM jobs WHERE queue = $1 ORDER BY name LIMIT 1 FOR UPDATE SKIP LOCKED`,
	none:      "there is no job that nobody has",
	parameter: keyItself,
}

// numberClaim locks a number, an advisory lock that lasts as long as the transaction.
var numberClaim = claim{
	tables:    objectsTable,
	lock:      `SELECT 'mine' WHERE pg_try_advisory_xact_lock($1)`,
	none:      "somebody else holds it",
	parameter: func(key string) any { return locks.PostgresNumber(key) },
}

// tokenStatements return the fencing tokens, for the locks that have them.
var tokenStatements = map[string]string{
	"postgres-row-elsewhere":   `SELECT nextval('fence')`,
	"postgres-queue-elsewhere": `UPDATE jobs SET attempts = attempts + 1 WHERE name = $1 RETURNING attempts`,
}

// item is a handle on something that a client locks in a transaction while it works on it.
// Each handle has a connection of its own, because a connection has one transaction at a
// time.
type item struct {
	*Session
	env   *locks.Env
	claim claim
	make  func(*held) locks.Lease
	held  *held // nil if there is none
}

func openItem(e *locks.Env, name string, make func(*held) locks.Lease) (locks.Lock, error) {
	c := rowClaim
	switch {
	case strings.HasPrefix(name, "postgres-queue"):
		c = jobClaim
	case name == "postgres-advisory-transaction":
		c = numberClaim
	}
	c.count = tokenStatements[name]
	statements := []string{c.add, c.lock, readObject, writeObject, c.count}
	s, err := Open(e, c.tables, slices.DeleteFunc(statements, func(text string) bool { return text == "" })...)
	if err != nil || c.add == "" {
		return &item{Session: s, env: e, claim: c, make: make}, err
	}
	// The server ends the wait for the row before the client's own timeout, which would end
	// the connection.
	s.setDuration("lock_timeout", s.timeout()*4/5)
	if name == "postgres-row-timeout" {
		s.setDuration("idle_in_transaction_session_timeout", e.TTL)
	}
	e.OnWarmUp(func(ctx context.Context) {
		_, _ = use(ctx, s, func(ctx context.Context, conn *pgx.Conn) (pgconn.CommandTag, error) {
			return conn.Exec(ctx, c.add, e.Key)
		})
	})
	return &item{Session: s, env: e, claim: c, make: make}, nil
}

// Acquire begins a transaction. It then waits for the row until lock_timeout, or takes the
// first job that no other transaction has locked.
func (i *item) Acquire(ctx context.Context) (locks.Lease, error) {
	if i.held != nil {
		return nil, fmt.Errorf("%w: this handle is in a transaction", locks.ErrNotAcquired)
	}
	h := &held{item: i}
	err := h.inTx(ctx, func(ctx context.Context, c *pgx.Conn) (err error) {
		h.tx, err = c.Begin(ctx)
		return err
	})
	if err == nil {
		err = h.lockRow(ctx)
	}
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, fmt.Errorf("%w: %s", locks.ErrNotAcquired, i.claim.none)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", locks.ErrNotAcquired, err)
	}
	l := i.make(h)
	if t, ok := l.(heldWithTimeout); ok && t.isOver() {
		_ = t.Release(ctx)
		return nil, fmt.Errorf("%w: the answer came after the end of the transaction", locks.ErrNotAcquired)
	}
	i.held = h
	return l, nil
}

// held is a locked row. It is locked as long as its transaction lasts.
type held struct {
	item           *item
	tx             pgx.Tx
	token          int64
	lastSent       fakeclock.Reading // when the last answered statement was sent
	hasUncommitted bool              // there are uncommitted writes
	isCommitted    bool              // the transaction is committed
}

// lockRow locks the row, or ends the transaction if that fails.
func (h *held) lockRow(ctx context.Context) error {
	var name string
	err := h.inTx(ctx, func(ctx context.Context, _ *pgx.Conn) error {
		return h.tx.QueryRow(ctx, h.item.claim.lock, h.item.claim.parameter(h.item.env.Key)).Scan(&name)
	})
	if count := h.item.claim.count; err == nil && count != "" {
		// A single statement that locks and counts might count before it waits.
		err = h.inTx(ctx, func(ctx context.Context, _ *pgx.Conn) error {
			if !strings.Contains(count, "$1") {
				return h.tx.QueryRow(ctx, count).Scan(&h.token)
			}
			return h.tx.QueryRow(ctx, count, name).Scan(&h.token)
		})
	}
	if err != nil {
		_ = h.inTx(ctx, func(ctx context.Context, _ *pgx.Conn) error { return h.tx.Rollback(ctx) })
	}
	return err
}

// inTx calls f in the transaction and notes when it sent its statement. It fails if the
// transaction's connection has ended.
func (h *held) inTx(ctx context.Context, f func(context.Context, *pgx.Conn) error) error {
	if h.tx != nil && h.tx.Conn().IsClosed() {
		return fmt.Errorf("%w with its connection", locks.ErrLost)
	}
	sent := h.item.env.Clock.Read(fakeclock.Monotonic)
	_, err := use(ctx, h.item.Session, func(ctx context.Context, c *pgx.Conn) (struct{}, error) { return struct{}{}, f(ctx, c) })
	if err == nil {
		h.lastSent = sent
	}
	return err
}

// Release ends the transaction. Writes that the client has not committed are rolled back.
func (h *held) Release(ctx context.Context) error {
	h.item.held = nil
	if h.isCommitted {
		return nil
	}
	err := h.inTx(ctx, func(ctx context.Context, _ *pgx.Conn) error {
		if h.hasUncommitted {
			return h.tx.Rollback(ctx)
		}
		return h.tx.Commit(ctx)
	})
	if err != nil {
		return fmt.Errorf("lock not released: %w", err)
	}
	return nil
}

// heldWithData is a locked row that protects data in the database.
type heldWithData struct{ *held }

// Read is as in [locks.Keeper].
func (k heldWithData) Read(ctx context.Context, object string) (version int, err error) {
	err = k.inTx(ctx, func(ctx context.Context, _ *pgx.Conn) error {
		version, err = read(ctx, k.tx, object)
		return err
	})
	return version, err
}

// Write is as in [locks.Keeper].
func (k heldWithData) Write(ctx context.Context, object, value string, last bool) (version int, err error) {
	if k.isCommitted {
		return 0, errors.New("the transaction is over")
	}
	err = k.inTx(ctx, func(ctx context.Context, _ *pgx.Conn) error {
		k.hasUncommitted = true
		if version, err = write(ctx, k.tx, object, value); err != nil || !last {
			return err
		}
		return k.tx.Commit(ctx)
	})
	k.isCommitted = err == nil && last
	return version, err
}

// heldWithTimeout is a locked row whose transaction the server ends when the client has
// been idle for too long.
type heldWithTimeout struct{ heldWithData }

// Expires is as in [locks.Expirer].
func (t heldWithTimeout) Expires() fakeclock.Reading { return t.lastSent.Add(t.item.env.TTL) }

func (t heldWithTimeout) isOver() bool {
	return t.item.env.Clock.Read(fakeclock.Monotonic).Nanos >= t.Expires().Nanos
}

// heldWithToken is a locked row that protects data elsewhere, with a fencing token.
type heldWithToken struct{ *held }

// Token returns the number that the transaction drew while it held the row.
func (c heldWithToken) Token() uint64 { return uint64(c.token) }

// newAttempt is a job whose effect is outside the database. The number of its attempts can
// be its fencing token.
func newAttempt(h *held) locks.Lease {
	if !h.item.env.Options.Has("attempts") {
		return h
	}
	return heldWithToken{h}
}
