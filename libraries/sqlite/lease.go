package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/locks"
)

func init() {
	locks.Provide("sqlite-lease", func(e *locks.Env) (locks.Lock, error) {
		s, err := Open(e, leasesIn, table)
		if err != nil {
			return nil, err
		}
		return &leases{Session: s, env: e, number: locks.Share(e, "sqlite-lease", func() *atomic.Int64 { return new(atomic.Int64) })}, nil
	})
}

// What is said to SQLite. now is the machine's time of day in milliseconds since 1970: a number,
// because SQLite has no type for times.
const (
	now   = `CAST(round(unixepoch('subsec') * 1000) AS INTEGER)`
	table = `CREATE TABLE IF NOT EXISTS locks (
		name TEXT PRIMARY KEY, holder TEXT NOT NULL, generation INTEGER NOT NULL, expires_at INTEGER NOT NULL)`
	acquire = `INSERT INTO locks AS l (name, holder, generation, expires_at)
		VALUES (?1, ?2, 1, ` + now + ` + ?3)
		ON CONFLICT (name) DO UPDATE
		SET holder = excluded.holder, generation = l.generation + 1, expires_at = excluded.expires_at
		WHERE l.expires_at < ` + now + `
		RETURNING generation`
	extend    = `UPDATE locks SET expires_at = ` + now + ` + ?3 WHERE name = ?1 AND holder = ?2 AND expires_at >= ` + now
	release   = `UPDATE locks SET expires_at = 0 WHERE name = ?1 AND holder = ?2 AND expires_at >= ` + now
	byDelete  = `DELETE FROM locks WHERE name = ?1 AND holder = ?2`
	unchecked = `DELETE FROM locks WHERE name = ?1`
)

// leases is a handle on a row.
type leases struct {
	*Session
	env    *locks.Env
	number *atomic.Int64 // of the attempts of the process
}

// now is what the lock's clock reads.
func (l *leases) now() fakeclock.Reading {
	return l.env.Clock.Read(cmp.Or(l.env.Options.Clock, fakeclock.Monotonic))
}

// Acquire tries once. If SQLite says that it failed to write, the row may say all the same that
// the attempt has the lock; then it says so until its time is up.
func (l *leases) Acquire(ctx context.Context) (locks.Lease, error) {
	g := &grant{of: l, holder: fmt.Sprintf("%s/%d", l.env.Client, l.number.Add(1))}
	called := l.now()
	err := l.use(ctx, func(ctx context.Context, db *sql.DB) error {
		return db.QueryRowContext(ctx, acquire, l.env.Key, g.holder, l.env.TTL.Milliseconds()).Scan(&g.token)
	})
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, fmt.Errorf("%w: somebody else holds it", locks.ErrNotAcquired)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", locks.ErrNotAcquired, err)
	case !g.prolongs(called):
		_ = g.Release(ctx)
		return nil, fmt.Errorf("%w: the answer came after the end of the lease", locks.ErrNotAcquired)
	case !l.env.Options.Has("generation"):
		return g, nil
	}
	return numbered{g}, nil
}

// A grant is what the row says of its holder.
type grant struct {
	of     *leases
	holder string
	token  int64

	mu   sync.Mutex
	ends fakeclock.Reading
}

// prolongs has the lease last for a TTL since it was asked for; false if that is over.
func (g *grant) prolongs(called fakeclock.Reading) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ends = called.Add(g.of.env.TTL)
	return g.of.now().Nanos < g.ends.Nanos
}

// Expires is as in [locks.Expirer].
func (g *grant) Expires() fakeclock.Reading {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.ends
}

// numbered is a grant with a token.
type numbered struct{ *grant }

// Token is the generation: how often the row has changed hands.
func (n numbered) Token() uint64 { return uint64(n.token) }

// Extend is as in [locks.Extender].
func (g *grant) Extend(ctx context.Context) error {
	called := g.of.now()
	changed, err := g.does(ctx, extend, g.of.env.Key, g.holder, g.of.env.TTL.Milliseconds())
	switch {
	case err != nil:
		return fmt.Errorf("lock not extended: %w", err)
	case !changed, !g.prolongs(called):
		return fmt.Errorf("%w before it was extended", locks.ErrLost)
	}
	return nil
}

// Release gives the row up.
func (g *grant) Release(ctx context.Context) error {
	text, args := release, []any{g.of.env.Key, g.holder}
	switch o := g.of.env.Options; {
	case !o.Has("holder-check"):
		text, args = unchecked, args[:1]
	case !o.Has("keep-row"):
		text = byDelete
	}
	changed, err := g.does(ctx, text, args...)
	switch {
	case err != nil:
		return fmt.Errorf("lock not released: %w", err)
	case !changed:
		return fmt.Errorf("%w before it was released", locks.ErrLost)
	}
	return nil
}

// does reports whether a statement has changed the row.
func (g *grant) does(ctx context.Context, text string, args ...any) (changed bool, err error) {
	err = g.of.use(ctx, func(ctx context.Context, db *sql.DB) error {
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
