package goose

import (
	"context"
	"errors"

	"github.com/pressly/goose/v3/lock"

	"github.com/locksim/locksim/locks"
)

// table is a locker whose lock is a row of the table goose_lock.
type table struct {
	*handle
	lock.Locker
	// turn is full while a client holds the lock through this locker. The library uses a
	// mutex for that, but virtual time does not pass while a goroutine waits for a mutex.
	turn chan struct{}
	name string // the locker's name in a world
}

// errBusy is the error of an attempt while the same locker holds the lock.
var errBusy = errors.New("the locker is in use")

// newTable returns a table for the lock of the handle.
func newTable(h *handle) (locker, error) { return h.newLocker(h.lockNumber) }

// newLocker returns a locker for the lock with the given number. The interval of its heartbeats
// is a sixth of its lease, as in the library's defaults of 5 and 30 seconds.
func (h *handle) newLocker(number int64) (*table, error) {
	t := &table{handle: h, turn: make(chan struct{}, 1)}
	var err error
	t.Locker, err = lock.NewPostgresTableLocker(
		lock.WithTableLockID(number),
		lock.WithTableLeaseDuration(h.env.TTL),
		lock.WithTableHeartbeatInterval(h.env.TTL/6),
		lock.WithTableLockTimeout(lockEvery, lockTries),
		lock.WithTableUnlockTimeout(unlockEvery, unlockTries),
		lock.WithTableRetryPolicy(t.canRetry),
	)
	if err == nil {
		t.name = makeDeterministic(h.env, t.Locker)
	}
	return t, err
}

// canRetry reports whether the library may repeat a statement that has failed. By default it does.
// With the lock's option one-try it does not, and the caller decides. Nothing is repeated once the
// process has ended.
func (t *table) canRetry(error) bool {
	return t.env.ProcessContext().Err() == nil && !t.env.Options.Has("one-try")
}

// lock calls the library's Lock. The library also uses the context of Lock for its
// heartbeats. ctx, however, bounds only the attempt. So ctx cancels the library's context
// only until the lock is acquired.
func (t *table) lock(ctx context.Context) (func(context.Context) error, error) {
	select {
	case t.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, errBusy
	}
	libraryCtx, cancel := context.WithCancel(context.WithValue(t.env.Lifetime(), lockerKey{}, t.name))
	detach := context.AfterFunc(ctx, cancel)
	unlock := func(context.Context) error {
		defer func() { <-t.turn }()
		defer cancel()
		return t.Unlock(libraryCtx, t.db)
	}
	err := t.Lock(libraryCtx, t.db)
	attemptEnded := !detach()
	switch {
	case err != nil:
		cancel()
		<-t.turn
		return nil, err
	case attemptEnded: // ctx ended when the lock was already acquired, so there would be no heartbeats
		go func() {
			defer func() { <-t.turn }()
			// ctx has ended, and with it the context of the library, so the unlock needs another
			// context.
			_ = t.Unlock(context.WithValue(t.env.Lifetime(), lockerKey{}, t.name), t.db)
		}()
		return nil, ctx.Err()
	case !t.env.Options.Has("lasting-context"):
		cancel() // as in a program that acquires the lock with a context and defers its cancel
	}
	return unlock, nil
}

// warmUp makes the library create its table and prepare its statements. It uses a lock that
// no client uses.
func (t *table) warmUp(ctx context.Context) {
	spare, err := t.newLocker(locks.PostgresNumber(t.env.Key + " before the story"))
	if err != nil {
		return
	}
	if unlock, err := spare.lock(ctx); err == nil {
		_ = unlock(ctx)
	}
}
