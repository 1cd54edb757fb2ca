// Package lock is a lock in a table of SQLite, for the processes of one machine.
package lock

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// ErrNotAcquired is returned by Acquire if another client holds the lock.
var ErrNotAcquired = errors.New("lock not acquired")

// ErrLost is returned by Release if the lock was lost before: another client may hold it.
var ErrLost = errors.New("lock was lost")

// Table creates the table. A row of it is a lock, whose lease ends at expires_at, in
// milliseconds since 1970. generation counts the leases: it is the fencing token, so rows
// are not deleted.
const Table = `CREATE TABLE IF NOT EXISTS locks (
	name TEXT PRIMARY KEY,
	holder TEXT NOT NULL,
	generation INTEGER NOT NULL,
	expires_at INTEGER NOT NULL)`

// now is the machine's time of day in milliseconds since 1970.
const now = `CAST(round(unixepoch('subsec') * 1000) AS INTEGER)`

const acquire = `INSERT INTO locks AS l (name, holder, generation, expires_at)
	VALUES (?1, ?2, 1, ` + now + ` + ?3)
	ON CONFLICT (name) DO UPDATE
	SET holder = excluded.holder, generation = l.generation + 1, expires_at = excluded.expires_at
	WHERE l.expires_at < ` + now + `
	RETURNING generation`

const release = `UPDATE locks SET expires_at = 0
	WHERE name = ?1 AND holder = ?2 AND expires_at >= ` + now

// A Lock is a row of the table.
type Lock struct {
	db   *sql.DB
	name string
	ttl  time.Duration
}

// New returns a handle on the lock with this name. A lease of it lasts for one TTL. The
// table must exist.
func New(db *sql.DB, name string, ttl time.Duration) *Lock {
	return &Lock{db, name, ttl}
}

// Acquire tries once to acquire the lock.
func (l *Lock) Acquire(ctx context.Context) (*Lease, error) {
	// The lease ends one TTL after this moment. SQLite sets the end of the row later, so that
	// end is later, too.
	lease := &Lease{lock: l, holder: rand.Text(), expires: time.Now().Add(l.ttl)}
	// Nothing interrupts SQLite while it waits for the file system. Its busy_timeout limits
	// how long it waits for other processes.
	err := ctx.Err()
	if err != nil {
		return nil, err
	}
	err = l.db.QueryRowContext(context.WithoutCancel(ctx), acquire, l.name, lease.holder, l.ttl.Milliseconds()).Scan(&lease.token)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, ErrNotAcquired
	case err == nil && time.Now().Before(lease.expires):
		return lease, nil
	case err == nil:
		err = ErrNotAcquired // the answer arrived too late
	}
	// The row may name this lease although the answer is an error. ctx may have ended.
	_ = lease.Release(context.WithoutCancel(ctx))
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
	done, err := l.lock.db.ExecContext(ctx, release, l.lock.name, l.holder)
	if err != nil {
		return err
	}
	changed, err := done.RowsAffected()
	if err == nil && changed == 0 {
		err = ErrLost
	}
	return err
}
