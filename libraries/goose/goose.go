// Package goose provides the locks whose names begin with goose: package lock of
// github.com/pressly/goose/v3, unmodified, on database/sql and pgx. See [locks.Provide].
package goose

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/locksim/locksim/internal/answers"
	"github.com/locksim/locksim/locks"
	_ "github.com/locksim/locksim/servers/postgres" // the server on which the locks run
)

func init() {
	provide("goose-table", newTable)
	provide("goose-session", newSession)
}

// provide registers a kind of lock. makeLocker makes a locker of the library. By default
// all attempts of a handle use one locker; an option makes each attempt use its own.
func provide(name string, makeLocker func(*handle) (locker, error)) {
	locks.Provide(name, func(e *locks.Env) (locks.Lock, error) {
		db, err := database(e)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		h := &handle{env: e, db: db, makeLocker: makeLocker, lockNumber: locks.PostgresNumber(e.Key)}
		count := locks.Share(e, "goose handles", func() *int { return new(int) })
		*count++
		h.id = fmt.Sprintf("%s, handle %d", e.Key, *count)
		if h.shared, err = makeLocker(h); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		e.OnWarmUp(h.shared.warmUp)
		return h, nil
	})
}

// A handle is one client's handle on a lock. The library identifies the lock by a number.
type handle struct {
	env        *locks.Env
	db         *sql.DB
	lockNumber int64
	id         string // distinguishes the handle from the other handles of its process
	makeLocker func(*handle) (locker, error)
	// shared is the locker of all attempts that have no locker of their own.
	shared locker
}

// A locker wraps a locker of the library.
type locker interface {
	// lock acquires the lock within the context of the attempt, and returns the function
	// that releases it.
	lock(ctx context.Context) (unlock func(context.Context) error, err error)
	// warmUp is called before the run begins. It does what a process has done once it has been
	// running for a while.
	warmUp(ctx context.Context)
}

// Acquire is as in [locks.Lock].
func (h *handle) Acquire(ctx context.Context) (_ locks.Lease, err error) {
	l := h.shared
	if h.env.Options.Has("own-handle") {
		if l, err = h.makeLocker(h); err != nil {
			return nil, err
		}
	}
	unlock, err := l.lock(ctx)
	if err != nil {
		return nil, answers.WithCause(ctx, fmt.Errorf("%w: goose: %s", locks.ErrNotAcquired, reasonText(err)))
	}
	return &lease{unlock: unlock}, nil
}

// A lease is a grant. The holder learns neither when the lease ends nor that it has ended,
// and the lock has no fencing token.
type lease struct {
	unlock     func(context.Context) error
	isReleased atomic.Bool
}

// Release waits until the library has released the lock, which no context can cut short. If
// ctx ends first, Release fails and the library continues. Release runs only once, whatever
// its result, because a second Unlock of the library ends the program.
func (l *lease) Release(ctx context.Context) error {
	if l.isReleased.Swap(true) {
		return fmt.Errorf("%w: its unlock was already called", locks.ErrLost)
	}
	_, ok, err := answers.Call(ctx, func() (struct{}, error) { return struct{}{}, l.unlock(ctx) }, nil)
	switch {
	case !ok:
		return answers.WithCause(ctx, errors.New("goose: no answer"))
	case err == nil:
		return nil
	case strings.HasSuffix(err.Error(), "not held by this instance"):
		return fmt.Errorf("%w before it was released", locks.ErrLost)
	}
	return answers.WithCause(ctx, fmt.Errorf("lock not released: goose: %s", reasonText(err)))
}

// reasonText returns a text for an error that is equal in every run.
func reasonText(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return fmt.Sprintf("%s (SQLSTATE %s)", e.Message, e.Code)
	}
	for _, known := range []string{"already held by another instance", "failed to acquire lock", errBusy.Error()} {
		if strings.HasSuffix(err.Error(), known) {
			return known
		}
	}
	return answers.Reason(err)
}

// How often the library tries by default: 60 times, 5 seconds apart, to acquire a lock, and
// 30 times, 2 seconds apart, to release it.
const (
	lockEvery, lockTries     = 5 * time.Second, 60
	unlockEvery, unlockTries = 2 * time.Second, 30
)
