// Package postgres provides the locks whose names begin with postgres, on
// github.com/jackc/pgx, unmodified. See [locks.Provide].
package postgres

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/internal/rowlease"
	"github.com/locksim/locksim/locks"
	_ "github.com/locksim/locksim/servers/postgres" // the server on which the locks run
)

func init() {
	provideLease("postgres-lease", recipe)
	provideLease("postgres-lease-timestamp", recipe.withClockTimestamp())
	provideLease("postgres-lease-begun", recipe)
	provideLease("postgres-lease-begun-timestamp", recipe.withClockTimestamp())
	provideLease("postgres-lease-case", byCase)
	provideLease("postgres-lease-client-clock", byClients)
}

func provideLease(name string, w leaseSQL) {
	locks.Provide(name, func(e *locks.Env) (locks.Lock, error) {
		r := &leaseRow{sql: w.applyOptions(e.Options), beginsFirst: strings.HasPrefix(name, "postgres-lease-begun")}
		r.Row = &rowlease.Row{Env: e, Clock: fakeclock.Monotonic, Extend: r.extend, Release: r.release}
		if w.usesClientClock {
			r.Clock = fakeclock.Wall
		}
		var err error
		r.besideData, err = openBeside(e, r.sql.table, r.sql.acquire, r.sql.extend, r.sql.release)
		return r, err
	})
}

// leaseSQL is the SQL of a lease row. If usesClientClock is true, the last parameter of
// each statement is the client's time.
type leaseSQL struct {
	table, acquire, extend, release string
	usesClientClock                 bool
}

// withTime appends the client's time to a statement's parameters, if the statement needs
// it.
func (r *leaseRow) withTime(args ...any) []any {
	if r.sql.usesClientClock {
		args = append(args, r.Env.Clock.Now())
	}
	return args
}

// recipe is the lease row in its usual form. The server's clock decides whether a lease has
// ended. A release keeps the row, so that the generation continues.
var recipe = leaseSQL{
	table: `CREATE TABLE IF NOT EXISTS locks (
		name text PRIMARY KEY, holder text NOT NULL, generation bigint NOT NULL, expires_at timestamptz NOT NULL)`,
	acquire: `INSERT INTO locks AS l (name, holder, generation, expires_at)
		VALUES ($1, $2, 1, now() + $3::interval)
		ON CONFLICT (name) DO UPDATE
		SET holder = excluded.holder, generation = l.generation + 1, expires_at = excluded.expires_at
		WHERE l.expires_at < now()
		RETURNING generation`,
	extend:  `UPDATE locks SET expires_at = now() + $3::interval WHERE name = $1 AND holder = $2 AND expires_at > now()`,
	release: `UPDATE locks SET expires_at = '-infinity' WHERE name = $1 AND holder = $2 AND expires_at > now()`,
}

// withClockTimestamp counts all ends from the time when a statement runs, and not from the
// beginning of its transaction.
func (w leaseSQL) withClockTimestamp() leaseSQL {
	for _, text := range []*string{&w.acquire, &w.extend, &w.release} {
		*text = strings.ReplaceAll(*text, "now()", "clock_timestamp()")
	}
	return w
}

// byCase is the recipe as people write it for MySQL, with INSERT … ON DUPLICATE KEY UPDATE
// and CASE. The statement always succeeds, and its result says who holds the lock.
var byCase = func() leaseSQL {
	w := recipe
	w.acquire = `INSERT INTO locks AS l (name, holder, generation, expires_at)
		VALUES ($1, $2, 1, now() + $3::interval)
		ON CONFLICT (name) DO UPDATE
		SET holder = CASE WHEN l.expires_at < now() THEN excluded.holder ELSE l.holder END,
			generation = CASE WHEN l.expires_at < now() THEN l.generation + 1 ELSE l.generation END,
			expires_at = CASE WHEN l.expires_at < now() THEN excluded.expires_at ELSE l.expires_at END
		RETURNING CASE WHEN holder = $2 THEN generation ELSE -generation END`
	return w
}()

// byClients is the recipe without the server's clock. Each client sets the end of its lease
// by its own time of day, and judges by it whether another client's lease has ended.
var byClients = leaseSQL{
	table: `CREATE TABLE IF NOT EXISTS locks (
		name text PRIMARY KEY, holder text NOT NULL, generation bigint NOT NULL, client_expires_at timestamptz NOT NULL)`,
	acquire: `INSERT INTO locks AS l (name, holder, generation, client_expires_at)
		VALUES ($1, $2, 1, $4::timestamptz + $3::interval)
		ON CONFLICT (name) DO UPDATE
		SET holder = excluded.holder, generation = l.generation + 1, client_expires_at = excluded.client_expires_at
		WHERE l.client_expires_at < $4::timestamptz
		RETURNING generation`,
	extend:          `UPDATE locks SET client_expires_at = $4::timestamptz + $3::interval WHERE name = $1 AND holder = $2 AND client_expires_at > $4::timestamptz`,
	release:         `UPDATE locks SET client_expires_at = '-infinity' WHERE name = $1 AND holder = $2 AND client_expires_at > $3::timestamptz`,
	usesClientClock: true,
}

const (
	byDelete  = `DELETE FROM locks WHERE name = $1 AND holder = $2`
	unchecked = `DELETE FROM locks WHERE name = $1`
)

// applyOptions returns the SQL of a lock from which the options leave a precaution out.
func (w leaseSQL) applyOptions(o locks.Options) leaseSQL {
	switch {
	case !o.Has("holder-check"):
		w.release = unchecked
	case !o.Has("keep-row"):
		w.release = byDelete
	}
	return w
}

// leaseRow is a handle on the lease row.
type leaseRow struct {
	besideData
	*rowlease.Row
	sql         leaseSQL
	beginsFirst bool // it begins a transaction first, and acquires in it later
}

// Acquire tries once. If there is no answer, the row may still name the attempt as the
// holder, until the lease ends.
func (r *leaseRow) Acquire(ctx context.Context) (locks.Lease, error) {
	holder, called := r.NewHolder(), r.Now()
	generation, err := use(ctx, r.Session, func(ctx context.Context, c *pgx.Conn) (n int64, err error) {
		if !r.beginsFirst {
			return n, c.QueryRow(ctx, r.sql.acquire, r.withTime(r.Env.Key, holder, r.Env.TTL)...).Scan(&n)
		}
		err = pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
			called = r.Now()
			return tx.QueryRow(ctx, r.sql.acquire, r.withTime(r.Env.Key, holder, r.Env.TTL)...).Scan(&n)
		})
		return n, err
	})
	switch {
	case err != nil:
		return nil, rowlease.NotAcquired(err, pgx.ErrNoRows)
	case generation < 0 && r.Env.Options.Has("look"):
		return nil, rowlease.NotAcquired(pgx.ErrNoRows, pgx.ErrNoRows)
	}
	return r.Granted(ctx, holder, called, uint64(max(generation, -generation)))
}

func (r *leaseRow) extend(ctx context.Context, holder string) (bool, error) {
	return r.exec(ctx, r.sql.extend, r.withTime(r.Env.Key, holder, r.Env.TTL)...)
}

func (r *leaseRow) release(ctx context.Context, holder string) (bool, error) {
	args := []any{r.Env.Key, holder}
	switch r.sql.release {
	case unchecked:
		args = args[:1]
	case byDelete:
	default:
		args = r.withTime(args...)
	}
	return r.exec(ctx, r.sql.release, args...)
}

// exec reports whether a statement has changed the row.
func (r *leaseRow) exec(ctx context.Context, text string, args ...any) (bool, error) {
	tag, err := use(ctx, r.Session, func(ctx context.Context, c *pgx.Conn) (pgconn.CommandTag, error) {
		return c.Exec(ctx, text, args...)
	})
	return tag.RowsAffected() > 0, err
}
