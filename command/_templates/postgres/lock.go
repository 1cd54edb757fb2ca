// Package lock is a lock in a table of PostgreSQL.
package lock

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// ErrNotAcquired is returned by Acquire if another client holds the lock.
var ErrNotAcquired = errors.New("lock not acquired")

// ErrLost is returned by Release if the lock was lost before: another client may hold it.
var ErrLost = errors.New("lock was lost")

// Table creates the table. A row of it is a lock, whose lease ends at expires_at by the
// server's clock. generation counts the leases: it is the fencing token, so rows are not
// deleted.
const Table = `CREATE TABLE IF NOT EXISTS locks (
	name text PRIMARY KEY,
	holder text NOT NULL,
	generation bigint NOT NULL,
	expires_at timestamptz NOT NULL)`

const acquire = `INSERT INTO locks AS l (name, holder, generation, expires_at)
	VALUES ($1, $2, 1, now() + $3::interval)
	ON CONFLICT (name) DO UPDATE
	SET holder = excluded.holder, generation = l.generation + 1, expires_at = excluded.expires_at
	WHERE l.expires_at < now()
	RETURNING generation`

const release = `UPDATE locks SET expires_at = '-infinity'
	WHERE name = $1 AND holder = $2 AND expires_at > now()`

// A Lock is a row of the table.
type Lock struct {
	db   *pgxpool.Pool
	name string
	ttl  time.Duration
}

// New returns a handle on the lock with this name. A lease of it lasts for one TTL. The
// table must exist.
func New(db *pgxpool.Pool, name string, ttl time.Duration) *Lock {
	return &Lock{db, name, ttl}
}

// Acquire tries once to acquire the lock.
func (l *Lock) Acquire(ctx context.Context) (*Lease, error) {
	// The lease ends one TTL after this moment. The server sets the end of the row later, so
	// that end is later, too.
	lease := &Lease{lock: l, holder: rand.Text(), expires: time.Now().Add(l.ttl)}
	err := l.db.QueryRow(ctx, acquire, l.name, lease.holder, l.ttl).Scan(&lease.token)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, ErrNotAcquired
	case err == nil && time.Now().Before(lease.expires):
		return lease, nil
	case err == nil:
		err = ErrNotAcquired // the answer arrived too late
	}
	// The row may name this lease although the answer is an error. ctx may have ended.
	cleanUp, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.ttl)
	defer cancel()
	_ = lease.Release(cleanUp)
	return nil, fmt.Errorf("acquire %s: %w", l.name, err)
}

// A Lease is the right to work under the lock. It ends one TTL after the call of Acquire.
type Lease struct {
	lock    *Lock
	holder  string
	token   uint64
	expires time.Time
}

// Expires returns the end of the lease. The holder must have stopped its work by then.
func (l *Lease) Expires() time.Time { return l.expires }

// Token returns the fencing token, which is greater than the token of each earlier lease.
func (l *Lease) Token() uint64 { return l.token }

// Release releases the lock.
func (l *Lease) Release(ctx context.Context) error {
	done, err := l.lock.db.Exec(ctx, release, l.lock.name, l.holder)
	if err == nil && done.RowsAffected() == 0 {
		err = ErrLost
	}
	return err
}
