// Package postgres provides the locks whose names begin with postgres. They use
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

// provideLease registers a kind of lock whose lease is a row of a table (a lease row), with the SQL
// statements for it.
func provideLease(name string, w leaseSQL) {
	locks.Provide(name, func(e *locks.Env) (locks.Lock, error) {
		r := &leaseRow{sql: w.applyOptions(e.Options), beginsEarly: strings.HasPrefix(name, "postgres-lease-begun")}
		r.Row = &rowlease.Row{Env: e, Clock: fakeclock.Monotonic, Extend: r.extend, Release: r.release}
		if w.usesClientClock {
			r.Clock = fakeclock.Wall
		}
		var err error
		r.besideData, err = openBeside(e, r.sql.table, r.sql.acquire, r.sql.extend, r.sql.release)
		return r, err
	})
}

// leaseSQL is the SQL statements of a lease row. If usesClientClock is true, the last
// parameter of each statement is the client's time.
type leaseSQL struct {
	table, acquire, extend, release string
	usesClientClock                 bool
}

// withTime returns the parameters of a statement, with the client's time after them if the
// statements need it.
func (r *leaseRow) withTime(args ...any) []any {
	if r.sql.usesClientClock {
		args = append(args, r.Env.Clock.Now())
	}
	return args
}

// recipe is the lease row in its usual form. The server's clock decides whether a lease has
// ended. A release keeps the row, because the next grant has to continue its generation.
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

// withClockTimestamp returns the statements with all times counted from when a statement
// runs. now() counts them from the beginning of the transaction.
func (w leaseSQL) withClockTimestamp() leaseSQL {
	for _, text := range []*string{&w.acquire, &w.extend, &w.release} {
		*text = strings.ReplaceAll(*text, "now()", "clock_timestamp()")
	}
	return w
}

// byCase is the recipe as people write it for MySQL, with INSERT … ON DUPLICATE KEY UPDATE
// and CASE. The statement to acquire always succeeds. Its result says who holds the lock:
// the generation is negative if another client does.
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
// by its own wall clock. By the same clock it judges whether another client's lease has
// ended.
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

// The statements of releases without a precaution: releaseByDelete deletes the row, and
// releaseUnchecked does so even if another client holds it.
const (
	releaseByDelete  = `DELETE FROM locks WHERE name = $1 AND holder = $2`
	releaseUnchecked = `DELETE FROM locks WHERE name = $1`
)

// applyOptions returns the statements without the precautions that the options switch off.
func (w leaseSQL) applyOptions(o locks.Options) leaseSQL {
	switch {
	case !o.Has("holder-check"):
		w.release = releaseUnchecked
	case !o.Has("keep-row"):
		w.release = releaseByDelete
	}
	return w
}

// leaseRow is a handle on a lease row.
type leaseRow struct {
	besideData
	*rowlease.Row
	sql         leaseSQL
	beginsEarly bool // it acquires in a transaction that began in an earlier request
}

// Acquire tries once to acquire the row. If the server does not reply, the row may name
// this attempt as the holder until the lease ends.
func (r *leaseRow) Acquire(ctx context.Context) (locks.Lease, error) {
	holder, askedAt := r.NewHolder(), r.Now()
	generation, err := use(ctx, r.Session, func(ctx context.Context, c *pgx.Conn) (n int64, err error) {
		if !r.beginsEarly {
			return n, c.QueryRow(ctx, r.sql.acquire, r.withTime(r.Env.Key, holder, r.Env.TTL)...).Scan(&n)
		}
		err = pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
			askedAt = r.Now()
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
	return r.Granted(ctx, holder, askedAt, uint64(max(generation, -generation)))
}

// extend is the field Extend of the handle's [rowlease.Row].
func (r *leaseRow) extend(ctx context.Context, holder string) (bool, error) {
	return r.exec(ctx, r.sql.extend, r.withTime(r.Env.Key, holder, r.Env.TTL)...)
}

// release is the field Release of the handle's [rowlease.Row].
func (r *leaseRow) release(ctx context.Context, holder string) (bool, error) {
	args := []any{r.Env.Key, holder}
	switch r.sql.release {
	case releaseUnchecked:
		args = args[:1]
	case releaseByDelete:
	default:
		args = r.withTime(args...)
	}
	return r.exec(ctx, r.sql.release, args...)
}

// exec executes a statement and reports whether it has changed the row.
func (r *leaseRow) exec(ctx context.Context, text string, args ...any) (bool, error) {
	tag, err := use(ctx, r.Session, func(ctx context.Context, c *pgx.Conn) (pgconn.CommandTag, error) {
		return c.Exec(ctx, text, args...)
	})
	return tag.RowsAffected() > 0, err
}
