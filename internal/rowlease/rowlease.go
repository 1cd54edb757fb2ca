// Package rowlease is the common part of locks that are a row of a database table. The row names
// the holder, and the time at which the holder's lease ends. The package chooses the names of
// holders, and decides how long a holder believes that it holds the row.
package rowlease

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/internal/expiry"
	"github.com/locksim/locksim/locks"
)

// A Row is a handle on the row of one lock.
type Row struct {
	Env *locks.Env
	// Clock is the clock by which the holder measures its lease, unless the lock's options
	// name another one.
	Clock fakeclock.Kind
	// Extend and Release execute the statements by which a holder extends or releases its
	// lease. They report whether the row was changed.
	Extend, Release func(ctx context.Context, holder string) (changed bool, err error)
}

// NewHolder returns the name of a holder. Each attempt to acquire the row uses a new name.
func (r *Row) NewHolder() string {
	attempts := locks.Share(r.Env, "row leases", func() *atomic.Int64 { return new(atomic.Int64) })
	return fmt.Sprintf("%s/%d", r.Env.Client, attempts.Add(1))
}

// Now returns the present reading of the clock by which the holder measures its lease.
func (r *Row) Now() fakeclock.Reading {
	return r.Env.Clock.Read(cmp.Or(r.Env.Options.Clock, r.Clock))
}

// Granted returns the lease of a holder whose attempt to acquire the row has succeeded.
// asked is when the attempt began, as returned by [Row.Now]. If the lease has ended
// already, Granted releases the row and fails.
func (r *Row) Granted(ctx context.Context, holder string, asked fakeclock.Reading, token uint64) (locks.Lease, error) {
	l := &lease{row: r, holder: holder, token: token}
	switch {
	case !l.renew(asked):
		_ = l.Release(ctx)
		return nil, fmt.Errorf("%w: the answer came after the end of the lease", locks.ErrNotAcquired)
	case !r.Env.Options.Has("generation"):
		return l, nil
	}
	return fencedLease{l}, nil
}

// NotAcquired returns the error of a failed attempt to acquire a row. errHeld is the error
// of the database driver that means that the statement has changed no row, because another
// client holds it.
func NotAcquired(err, errHeld error) error {
	if errors.Is(err, errHeld) {
		return fmt.Errorf("%w: another client holds it", locks.ErrNotAcquired)
	}
	return fmt.Errorf("%w: %w", locks.ErrNotAcquired, err)
}

// A lease is one holder's lease of the row. Its End is the time until which the holder
// believes that it holds the row.
type lease struct {
	row    *Row
	holder string
	token  uint64
	expiry.End
}

// renew moves the end of the lease to one TTL after asked, or after the present time if the
// lock does not have the option count-from-call. It reports whether the new end is still in
// the future.
func (l *lease) renew(asked fakeclock.Reading) bool {
	if !l.row.Env.Options.Has("count-from-call") {
		asked = l.row.Now()
	}
	l.MoveTo(asked.Add(l.row.Env.TTL))
	return l.row.Now().Nanos < l.Expires().Nanos
}

// Extend implements [locks.Extender].
func (l *lease) Extend(ctx context.Context) error {
	asked := l.row.Now()
	changed, err := l.row.Extend(ctx, l.holder)
	if err == nil && changed && l.renew(asked) {
		return nil
	}
	return lostError(err, "extended")
}

// Release releases the row.
func (l *lease) Release(ctx context.Context) error {
	changed, err := l.row.Release(ctx, l.holder)
	if err == nil && changed {
		return nil
	}
	return lostError(err, "released")
}

// lostError returns the error of a holder that could not change its row. A nil err means
// that the row no longer belongs to the holder. change says what the holder tried: extended
// or released.
func lostError(err error, change string) error {
	if err != nil {
		return fmt.Errorf("lock not %s: %w", change, err)
	}
	return fmt.Errorf("%w before it was %s", locks.ErrLost, change)
}

// A fencedLease is a lease with a fencing token. The column "generation" of the table contains the
// token.
type fencedLease struct{ *lease }

// Token returns the row's generation, which counts how often the row has changed hands.
func (n fencedLease) Token() uint64 { return n.token }
