package sqlite

import (
	"context"
	"database/sql"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/internal/rowlease"
	"github.com/locksim/locksim/locks"
)

func init() {
	locks.Provide("sqlite-lease", func(e *locks.Env) (locks.Lock, error) {
		s, err := Open(e, leaseDatabase, createLocks)
		if err != nil {
			return nil, err
		}
		l := &leaseRow{Session: s}
		l.Row = &rowlease.Row{Env: e, Clock: fakeclock.Monotonic, Extend: l.extend, Release: l.release}
		return l, nil
	})
}

// The statements for a lease that is a row of the table locks. sqlNow is the machine's time
// of day in milliseconds since 1970. It is a number, because SQLite has no type for times.
// deleteOwn and deleteUnchecked are two other ways to release the lease; deleteUnchecked
// also deletes the row of another holder.
const (
	sqlNow      = `CAST(round(unixepoch('subsec') * 1000) AS INTEGER)`
	createLocks = `CREATE TABLE IF NOT EXISTS locks (
		name TEXT PRIMARY KEY, holder TEXT NOT NULL, generation INTEGER NOT NULL, expires_at INTEGER NOT NULL)`
	acquire = `INSERT INTO locks AS l (name, holder, generation, expires_at)
		VALUES (?1, ?2, 1, ` + sqlNow + ` + ?3)
		ON CONFLICT (name) DO UPDATE
		SET holder = excluded.holder, generation = l.generation + 1, expires_at = excluded.expires_at
		WHERE l.expires_at < ` + sqlNow + `
		RETURNING generation`
	extend          = `UPDATE locks SET expires_at = ` + sqlNow + ` + ?3 WHERE name = ?1 AND holder = ?2 AND expires_at >= ` + sqlNow
	release         = `UPDATE locks SET expires_at = 0 WHERE name = ?1 AND holder = ?2 AND expires_at >= ` + sqlNow
	deleteOwn       = `DELETE FROM locks WHERE name = ?1 AND holder = ?2`
	deleteUnchecked = `DELETE FROM locks WHERE name = ?1`
)

// A leaseRow is a handle of a lock whose lease is a row.
type leaseRow struct {
	*Session
	*rowlease.Row
}

// Acquire tries once. If SQLite reports that the write has failed, the row may nevertheless
// name this attempt as the holder, until the lease expires.
func (l *leaseRow) Acquire(ctx context.Context) (locks.Lease, error) {
	holder, called := l.NewHolder(), l.Now()
	var generation uint64
	err := l.use(ctx, func(ctx context.Context, db *sql.DB) error {
		return db.QueryRowContext(ctx, acquire, l.Env.Key, holder, l.Env.TTL.Milliseconds()).Scan(&generation)
	})
	if err != nil {
		return nil, rowlease.NotAcquired(err, sql.ErrNoRows)
	}
	return l.Granted(ctx, holder, called, generation)
}

// extend sets a new end of the lease. It returns false if the holder no longer has the lease.
func (l *leaseRow) extend(ctx context.Context, holder string) (bool, error) {
	return l.exec(ctx, extend, l.Env.Key, holder, l.Env.TTL.Milliseconds())
}

// release gives the lease up. It returns false if the holder no longer has the lease.
func (l *leaseRow) release(ctx context.Context, holder string) (bool, error) {
	switch o := l.Env.Options; {
	case !o.Has("holder-check"):
		return l.exec(ctx, deleteUnchecked, l.Env.Key)
	case !o.Has("keep-row"):
		return l.exec(ctx, deleteOwn, l.Env.Key, holder)
	}
	return l.exec(ctx, release, l.Env.Key, holder)
}

// exec executes a statement, and reports whether it has changed the row.
func (l *leaseRow) exec(ctx context.Context, text string, args ...any) (changed bool, err error) {
	err = l.use(ctx, func(ctx context.Context, db *sql.DB) error {
		done, err := db.ExecContext(ctx, text, args...)
		if err != nil {
			return err
		}
		n, err := done.RowsAffected()
		changed = n > 0
		return err
	})
	return changed, err
}
