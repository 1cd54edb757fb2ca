// Package postgres provides the locks whose names begin with postgres, on github.com/jackc/pgx,
// unmodified. See [locks.Provide].
package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/locks"
	_ "github.com/locksim/locksim/servers/postgres" // what they are tried on
)

func init() {
	provideLease("postgres-lease", recipe)
	provideLease("postgres-lease-timestamp", recipe.timed())
	provideLease("postgres-lease-begun", recipe)
	provideLease("postgres-lease-begun-timestamp", recipe.timed())
	provideLease("postgres-lease-case", byCase)
	provideLease("postgres-lease-client-clock", byClients)
}

func provideLease(name string, w words) {
	locks.Provide(name, func(e *locks.Env) (locks.Lock, error) {
		if len(e.Nodes) == 0 {
			return nil, fmt.Errorf("%s needs a PostgreSQL server, but there is none", name)
		}
		r := &row{env: e, words: w.without(e.Options), begins: strings.HasPrefix(name, "postgres-lease-begun"), number: locks.Share(e, "postgres-lease", func() *atomic.Int64 { return new(atomic.Int64) })}
		data, err := openBeside(e, r.words.table, r.words.acquire, r.words.extend, r.words.release)
		r.beside = data
		return r, err
	})
}

// words are what the lock says. If it goes by the clients' clocks, it says what time it is last.
type words struct {
	table, acquire, extend, release string
	clients                         bool
}

// at are the parameters of a statement that asks what time it is.
func (r *row) at(args ...any) []any {
	if r.words.clients {
		args = append(args, r.env.Clock.Now())
	}
	return args
}

// recipe is what they are. The server's clock says whether a lease is over. Who releases the row
// leaves it, so that the generation goes on.
var recipe = words{
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

// timed has all ends counted from when a statement gets there, and not from the beginning of its
// transaction.
func (w words) timed() words {
	for _, text := range []*string{&w.acquire, &w.extend, &w.release} {
		*text = strings.ReplaceAll(*text, "now()", "clock_timestamp()")
	}
	return w
}

// byCase is the recipe as people write it for MySQL, by INSERT … ON DUPLICATE KEY UPDATE and CASE:
// the statement always succeeds, and what it returns says who has the lock.
var byCase = func() words {
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

// byClients is the recipe without the server's clock: each client says by its own time of day when
// its lease ends, and judges by that whether another's is over.
var byClients = words{
	table: `CREATE TABLE IF NOT EXISTS locks (
		name text PRIMARY KEY, holder text NOT NULL, generation bigint NOT NULL, client_expires_at timestamptz NOT NULL)`,
	acquire: `INSERT INTO locks AS l (name, holder, generation, client_expires_at)
		VALUES ($1, $2, 1, $4::timestamptz + $3::interval)
		ON CONFLICT (name) DO UPDATE
		SET holder = excluded.holder, generation = l.generation + 1, client_expires_at = excluded.client_expires_at
		WHERE l.client_expires_at < $4::timestamptz
		RETURNING generation`,
	extend:  `UPDATE locks SET client_expires_at = $4::timestamptz + $3::interval WHERE name = $1 AND holder = $2 AND client_expires_at > $4::timestamptz`,
	release: `UPDATE locks SET client_expires_at = '-infinity' WHERE name = $1 AND holder = $2 AND client_expires_at > $3::timestamptz`,
	clients: true,
}

const (
	byDelete  = `DELETE FROM locks WHERE name = $1 AND holder = $2`
	unchecked = `DELETE FROM locks WHERE name = $1`
)

// without are the words of a lock in which something is left out.
func (w words) without(o locks.Options) words {
	switch {
	case !o.Has("holder-check"):
		w.release = unchecked
	case !o.Has("keep-row"):
		w.release = byDelete
	}
	return w
}

// row is a handle on the lease row.
type row struct {
	beside
	env    *locks.Env
	words  words
	begins bool          // a transaction first, and says what it has to say later
	number *atomic.Int64 // of the attempts of the process
}

// now is what the lock's clock reads.
func (r *row) now() fakeclock.Reading {
	usual := fakeclock.Monotonic
	if r.words.clients {
		usual = fakeclock.Wall
	}
	return r.env.Clock.Read(cmp.Or(r.env.Options.Clock, usual))
}

// Acquire tries once. If there is no answer the row may say all the same that the attempt has
// the lock; then it says so until its time is up.
func (r *row) Acquire(ctx context.Context) (locks.Lease, error) {
	holder := fmt.Sprintf("%s/%d", r.env.Client, r.number.Add(1))
	called := r.now()
	generation, err := use(ctx, r.Session, func(ctx context.Context, c *pgx.Conn) (n int64, err error) {
		if !r.begins {
			return n, c.QueryRow(ctx, r.words.acquire, r.at(r.env.Key, holder, r.env.TTL)...).Scan(&n)
		}
		err = pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
			called = r.now()
			return tx.QueryRow(ctx, r.words.acquire, r.at(r.env.Key, holder, r.env.TTL)...).Scan(&n)
		})
		return n, err
	})
	if generation < 0 && !r.env.Options.Has("look") {
		generation = -generation
	}
	switch {
	case errors.Is(err, pgx.ErrNoRows), generation < 0:
		return nil, fmt.Errorf("%w: somebody else holds it", locks.ErrNotAcquired)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", locks.ErrNotAcquired, err)
	}
	l := &lease{row: r, holder: holder, token: uint64(generation)}
	if !l.prolongs(called) {
		_ = l.Release(ctx)
		return nil, fmt.Errorf("%w: the answer came after the end of the lease", locks.ErrNotAcquired)
	}
	if !r.env.Options.Has("generation") {
		return l, nil
	}
	return numbered{l}, nil
}

// A lease is a grant of the row.
type lease struct {
	row    *row
	holder string
	token  uint64

	mu   sync.Mutex
	ends fakeclock.Reading
}

// prolongs has the lease last for a TTL since it was asked for; false if that is over.
func (l *lease) prolongs(called fakeclock.Reading) bool {
	if !l.row.env.Options.Has("count-from-call") {
		called = l.row.now()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ends = called.Add(l.row.env.TTL)
	return l.row.now().Nanos < l.ends.Nanos
}

// Expires is as in [locks.Expirer].
func (l *lease) Expires() fakeclock.Reading {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ends
}

// numbered is a grant with a token.
type numbered struct{ *lease }

// Token is the generation: how often the row has changed hands.
func (n numbered) Token() uint64 { return n.token }

// Extend is as in [locks.Extender].
func (l *lease) Extend(ctx context.Context) error {
	called := l.row.now()
	changed, err := l.does(ctx, l.row.words.extend, l.row.at(l.row.env.Key, l.holder, l.row.env.TTL)...)
	switch {
	case err != nil:
		return fmt.Errorf("lock not extended: %w", err)
	case !changed, !l.prolongs(called):
		return fmt.Errorf("%w before it was extended", locks.ErrLost)
	}
	return nil
}

// Release gives the row up.
func (l *lease) Release(ctx context.Context) error {
	args := []any{l.row.env.Key, l.holder}
	switch l.row.words.release {
	case unchecked:
		args = args[:1]
	case byDelete:
	default:
		args = l.row.at(args...)
	}
	changed, err := l.does(ctx, l.row.words.release, args...)
	switch {
	case err != nil:
		return fmt.Errorf("lock not released: %w", err)
	case !changed:
		return fmt.Errorf("%w before it was released", locks.ErrLost)
	}
	return nil
}

// does reports whether a statement has changed the row.
func (l *lease) does(ctx context.Context, text string, args ...any) (bool, error) {
	tag, err := use(ctx, l.row.Session, func(ctx context.Context, c *pgx.Conn) (pgconn.CommandTag, error) {
		return c.Exec(ctx, text, args...)
	})
	return tag.RowsAffected() > 0, err
}
