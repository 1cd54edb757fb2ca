package goose

import (
	"context"
	"errors"

	"github.com/pressly/goose/v3/lock"

	"github.com/locksim/locksim/locks"
)

// table is a locker with a row of the table goose_lock.
type table struct {
	*handle
	lock.Locker
	// turn is full while a client holds the lock through the locker. The library uses a
	// mutex for that, but time does not pass while a goroutine waits for a mutex.
	turn chan struct{}
	name string // the name of its instance in a world
}

// errBusy is the error if the lock is held through the same locker.
var errBusy = errors.New("the locker is in use")

func newTable(h *handle) (locker, error) { return h.newLocker(h.number) }

// newLocker returns a locker for the lock with a number. Its heartbeat interval is a sixth
// of its lease, like the library's own defaults of 5 and 30 seconds.
func (h *handle) newLocker(number int64) (*table, error) {
	t := &table{handle: h, turn: make(chan struct{}, 1)}
	var err error
	t.Locker, err = lock.NewPostgresTableLocker(
		lock.WithTableLockID(number),
		lock.WithTableLeaseDuration(h.env.TTL),
		lock.WithTableHeartbeatInterval(h.env.TTL/6),
		lock.WithTableLockTimeout(lockEvery, lockTries),
		lock.WithTableUnlockTimeout(unlockEvery, unlockTries),
		lock.WithTableRetryPolicy(t.retries),
	)
	if err == nil {
		t.name = makeDeterministic(h.env, t.Locker)
	}
	return t, err
}

// retries reports whether a failure is retried: by the library, which does so by default,
// or by its caller. Nothing is retried once the process has ended.
func (t *table) retries(error) bool {
	return t.env.ProcessContext().Err() == nil && !t.env.Options.Has("one-try")
}

// lock calls the library's Lock. The context of Lock is also that of the heartbeats. To
// bound only the attempt by ctx, lock has to stop canceling it once the lock is acquired.
func (t *table) lock(ctx context.Context) (func(context.Context) error, error) {
	select {
	case t.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, errBusy
	}
	life, cancel := context.WithCancel(context.WithValue(t.env.Lifetime(), lockerKey{}, t.name))
	attempt := context.AfterFunc(ctx, cancel)
	unlock := func(context.Context) error {
		defer func() { <-t.turn }()
		defer cancel()
		return t.Unlock(life, t.db)
	}
	err := t.Lock(life, t.db)
	ended := !attempt()
	switch {
	case err != nil:
		cancel()
		<-t.turn
		return nil, err
	case ended: // the attempt ended after the lock was acquired, and there will be no heartbeat
		go func() { _ = unlock(life) }()
		return nil, ctx.Err()
	case !t.env.Options.Has("lasting-context"):
		cancel() // as `defer cancel()` does where a program acquires the lock
	}
	return unlock, nil
}

// warm makes the library create its table and prepare its statements, with a lock that
// nobody else uses.
func (t *table) warm(ctx context.Context) {
	spare, err := t.newLocker(locks.PostgresNumber(t.env.Key + " before the story"))
	if err != nil {
		return
	}
	if unlock, err := spare.lock(ctx); err == nil {
		_ = unlock(ctx)
	}
}
