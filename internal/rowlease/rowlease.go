// Package rowlease has what locks share that are a database row with a holder and an end:
// how a holder is named, and how long it believes that it holds the row.
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
	// Clock is the clock by which the holder counts, unless the lock's options name another
	// one.
	Clock fakeclock.Kind
	// Extend and Release execute the statements by which a holder changes the row. They
	// report whether the row was changed.
	Extend, Release func(ctx context.Context, holder string) (changed bool, err error)
}

// NewHolder returns a new holder name, different for each attempt.
func (r *Row) NewHolder() string {
	attempts := locks.Share(r.Env, "row leases", func() *atomic.Int64 { return new(atomic.Int64) })
	return fmt.Sprintf("%s/%d", r.Env.Client, attempts.Add(1))
}

// Now reads the lock's clock.
func (r *Row) Now() fakeclock.Reading {
	return r.Env.Clock.Read(cmp.Or(r.Env.Options.Clock, r.Clock))
}

// Granted returns the lease of a holder that asked for the row at the time asked and got
// it. It fails if the lease has ended already.
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

// NotAcquired returns the error of a failed attempt. taken is the error by which the
// database reports that it has not changed the row.
func NotAcquired(err, taken error) error {
	if errors.Is(err, taken) {
		return fmt.Errorf("%w: somebody else holds it", locks.ErrNotAcquired)
	}
	return fmt.Errorf("%w: %w", locks.ErrNotAcquired, err)
}

type lease struct {
	row    *Row
	holder string
	token  uint64
	expiry.End
}

// renew lets the lease last for a TTL from the time it was asked for; false if it has ended
// already.
func (l *lease) renew(asked fakeclock.Reading) bool {
	if !l.row.Env.Options.Has("count-from-call") {
		asked = l.row.Now()
	}
	l.MoveTo(asked.Add(l.row.Env.TTL))
	return l.row.Now().Nanos < l.Expires().Nanos
}

// Extend is as in [locks.Extender].
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
// that the row no longer belongs to it.
func lostError(err error, what string) error {
	if err != nil {
		return fmt.Errorf("lock not %s: %w", what, err)
	}
	return fmt.Errorf("%w before it was %s", locks.ErrLost, what)
}

// A fencedLease is a lease with a fencing token.
type fencedLease struct{ *lease }

// Token returns the generation: how often the row has changed hands.
func (n fencedLease) Token() uint64 { return n.token }
