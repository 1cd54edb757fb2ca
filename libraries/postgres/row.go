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
		"postgres-queue-elsewhere": newJobAttempt,

		"postgres-advisory-transaction": func(h *held) locks.Lease { return heldWithData{h} },
	} {
		locks.Provide(name, func(e *locks.Env) (locks.Lock, error) {
			return openItem(e, name, make)
		})
	}
}

// A lockTarget is what a lock locks in a transaction (a row, a job or a number), with the
// statements for it. A row and a job exist before the run begins.
type lockTarget struct {
	// createTables and insert set the target up, and lock locks it.
	createTables, insert, lock string
	// countToken is the statement that returns a fencing token after the target was locked;
	// "" if the lock has no token.
	countToken string
	// notFound is the error text if lock finds nothing and does not wait.
	notFound string
	// parameter returns the parameter of lock for a lock with this key.
	parameter func(key string) any
}

// keyItself returns the lock's key as the parameter.
func keyItself(key string) any { return key }

// rowTarget is a row that represents the thing on which the clients work.
var rowTarget = lockTarget{
	createTables: objectsTable + `
		CREATE TABLE IF NOT EXISTS items (name text PRIMARY KEY);
		CREATE SEQUENCE IF NOT EXISTS fence`,
	insert:    `INSERT INTO items (name) VALUES ($1) ON CONFLICT DO NOTHING`,
	lock:      `SELECT name FROM items WHERE name = $1 FOR UPDATE`,
	parameter: keyItself,
}

// jobTarget is a job in a queue. The job remains in the queue after it was done, so that the
// next client can do the same job again.
var jobTarget = lockTarget{
	createTables: objectsTable + `
		CREATE TABLE IF NOT EXISTS jobs (name text PRIMARY KEY, queue text NOT NULL, attempts bigint NOT NULL)`,
	insert:    `INSERT INTO jobs (name, queue, attempts) VALUES ($1, $1, 0) ON CONFLICT DO NOTHING`,
	lock:      `SELECT name FROM jobs WHERE queue = $1 ORDER BY name LIMIT 1 FOR UPDATE SKIP LOCKED`,
	notFound:  "no job is free",
	parameter: keyItself,
}

// numberTarget is a number: an advisory lock that lasts as long as the transaction.
var numberTarget = lockTarget{
	createTables: objectsTable,
	lock:         `SELECT 'mine' WHERE pg_try_advisory_xact_lock($1)`,
	notFound:     "another client holds it",
	parameter:    func(key string) any { return locks.PostgresNumber(key) },
}

// tokenStatements return the fencing tokens of the locks that have them, by the names of
// the locks.
var tokenStatements = map[string]string{
	"postgres-row-elsewhere":   `SELECT nextval('fence')`,
	"postgres-queue-elsewhere": `UPDATE jobs SET attempts = attempts + 1 WHERE name = $1 RETURNING attempts`,
}

// item is a handle on a target that a client locks in a transaction while it works on it.
// Each handle has its own connection, because a connection has one transaction at a time.
type item struct {
	*Session
	env       *locks.Env
	target    lockTarget
	makeLease func(*held) locks.Lease
	held      *held // nil if the handle does not hold the lock
}

// openItem returns a handle on the lock of this kind.
func openItem(e *locks.Env, name string, makeLease func(*held) locks.Lease) (locks.Lock, error) {
	c := rowTarget
	switch {
	case strings.HasPrefix(name, "postgres-queue"):
		c = jobTarget
	case name == "postgres-advisory-transaction":
		c = numberTarget
	}
	c.countToken = tokenStatements[name]
	statements := []string{c.insert, c.lock, readObject, writeObject, c.countToken}
	s, err := Open(e, c.createTables, slices.DeleteFunc(statements, func(text string) bool { return text == "" })...)
	if err != nil || c.insert == "" {
		return &item{Session: s, env: e, target: c, makeLease: makeLease}, err
	}
	// The server ends the wait for the row a little before the client's own timeout, because that
	// timeout would end the connection.
	s.setDuration("lock_timeout", s.timeout()*4/5)
	if name == "postgres-row-timeout" {
		s.setDuration("idle_in_transaction_session_timeout", e.TTL)
	}
	e.OnWarmUp(func(ctx context.Context) {
		_, _ = use(ctx, s, func(ctx context.Context, conn *pgx.Conn) (pgconn.CommandTag, error) {
			return conn.Exec(ctx, c.insert, e.Key)
		})
	})
	return &item{Session: s, env: e, target: c, makeLease: makeLease}, nil
}

// Acquire begins a transaction. Then it waits for the row until lock_timeout, takes the
// first job that no other transaction has locked, or tries once to lock the number.
func (i *item) Acquire(ctx context.Context) (locks.Lease, error) {
	if i.held != nil {
		return nil, fmt.Errorf("%w: this handle already has an open transaction", locks.ErrNotAcquired)
	}
	h := &held{item: i}
	err := h.inTx(ctx, func(ctx context.Context, c *pgx.Conn) (err error) {
		h.tx, err = c.Begin(ctx)
		return err
	})
	if err == nil {
		err = h.lockTarget(ctx)
	}
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, fmt.Errorf("%w: %s", locks.ErrNotAcquired, i.target.notFound)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", locks.ErrNotAcquired, err)
	}
	l := i.makeLease(h)
	if t, ok := l.(heldWithTimeout); ok && t.hasExpired() {
		_ = t.Release(ctx)
		return nil, fmt.Errorf("%w: the answer came after the end of the transaction", locks.ErrNotAcquired)
	}
	i.held = h
	return l, nil
}

// held is a target that a client has locked. It is locked as long as the client's
// transaction lasts.
type held struct {
	item           *item
	tx             pgx.Tx
	token          int64
	lastSent       fakeclock.Reading // when the last answered statement was sent
	hasUncommitted bool              // there are uncommitted writes
	isCommitted    bool              // the transaction is committed
}

// lockTarget locks the target, or ends the transaction if that fails.
func (h *held) lockTarget(ctx context.Context) error {
	var name string
	err := h.inTx(ctx, func(ctx context.Context, _ *pgx.Conn) error {
		return h.tx.QueryRow(ctx, h.item.target.lock, h.item.target.parameter(h.item.env.Key)).Scan(&name)
	})
	if countToken := h.item.target.countToken; err == nil && countToken != "" {
		// A single statement that both locked the target and drew the token might draw the token
		// before it waits for the target.
		err = h.inTx(ctx, func(ctx context.Context, _ *pgx.Conn) error {
			if !strings.Contains(countToken, "$1") {
				return h.tx.QueryRow(ctx, countToken).Scan(&h.token)
			}
			return h.tx.QueryRow(ctx, countToken, name).Scan(&h.token)
		})
	}
	if err != nil {
		_ = h.inTx(ctx, func(ctx context.Context, _ *pgx.Conn) error { return h.tx.Rollback(ctx) })
	}
	return err
}

// inTx calls f in the transaction and, if f succeeds, records when the statement was sent. It fails
// if the transaction's connection has ended.
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

// Release ends the transaction, which unlocks the target. Writes that the client has not
// committed are rolled back.
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

// heldWithData is a locked target that protects data in the same database.
type heldWithData struct{ *held }

// Read is as in [locks.Keeper].
func (k heldWithData) Read(ctx context.Context, object string) (version int, err error) {
	err = k.inTx(ctx, func(ctx context.Context, _ *pgx.Conn) error {
		version, err = read(ctx, k.tx, object)
		return err
	})
	return version, err
}

// Write is as in [locks.Keeper]. If last is true, it commits the transaction.
func (k heldWithData) Write(ctx context.Context, object, value string, last bool) (version int, err error) {
	if k.isCommitted {
		return 0, errors.New("the transaction has ended")
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

// heldWithTimeout is a locked row. The server ends its transaction when the client has been
// idle for too long.
type heldWithTimeout struct{ heldWithData }

// Expires is as in [locks.Expirer]. The server may end the transaction one TTL after the
// last statement was sent.
func (t heldWithTimeout) Expires() fakeclock.Reading { return t.lastSent.Add(t.item.env.TTL) }

// hasExpired reports whether the server may have ended the transaction.
func (t heldWithTimeout) hasExpired() bool {
	return t.item.env.Clock.Read(fakeclock.Monotonic).Nanos >= t.Expires().Nanos
}

// heldWithToken is a locked target that protects data outside the database, with a fencing
// token.
type heldWithToken struct{ *held }

// Token returns the number that the transaction drew after it had locked the target.
func (c heldWithToken) Token() uint64 { return uint64(c.token) }

// newJobAttempt returns the lease of a job whose effect is outside the database. With an
// option the number of the job's attempts is the fencing token.
func newJobAttempt(h *held) locks.Lease {
	if !h.item.env.Options.Has("attempts") {
		return h
	}
	return heldWithToken{h}
}
