package goose

import (
	"context"
	"errors"

	"github.com/pressly/goose/v3/lock"

	"github.com/locksim/locksim/locks"
)

// table is a locker by a row of the table goose_lock.
type table struct {
	*handle
	lock.Locker
	// turn has the locker as long as somebody has the lock by it. The library has a mutex for
	// that, and whoever waits for a mutex keeps time from passing.
	turn chan struct{}
	name string // what it calls itself in a world
}

// errBusy is that somebody has the lock by the same locker.
var errBusy = errors.New("the locker is in use")

func newTable(h *handle) (locker, error) { return h.table(h.number) }

// table is a locker for a lock with a number. Its heartbeat is to its lease as 5 seconds are to 30,
// which are the library's own.
func (h *handle) table(number int64) (*table, error) {
	t := &table{handle: h, turn: make(chan struct{}, 1)}
	var err error
	t.Locker, err = lock.NewPostgresTableLocker(
		lock.WithTableLockID(number),
		lock.WithTableLeaseDuration(h.env.TTL),
		lock.WithTableHeartbeatInterval(h.env.TTL/6),
		lock.WithTableLockTimeout(lockEvery, lockTries),
		lock.WithTableUnlockTimeout(unlockEvery, unlockTries),
		lock.WithTableRetryPolicy(t.again),
	)
	if err == nil {
		t.name = drawn(h.env, t.Locker)
	}
	return t, err
}

// again says that what has failed is to be tried again: by the library, which it does by itself, or
// by whoever asked. Nothing is tried again once the process has ended.
func (t *table) again(error) bool {
	return t.env.Process().Err() == nil && !t.env.Options.Has("one-try")
}

// lock is Lock. Its context is also that of the heartbeats: to bound an attempt, and no more, is to
// call off what ends it once the lock is there.
func (t *table) lock(ctx context.Context) (func(context.Context) error, error) {
	select {
	case t.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, errBusy
	}
	life, cancel := context.WithCancel(context.WithValue(t.env.Lifetime(), whose{}, t.name))
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
	case ended: // when the lock was there already, and there will be no heartbeat
		go func() { _ = unlock(life) }()
		return nil, ctx.Err()
	case !t.env.Options.Has("lasting-context"):
		cancel() // as `defer cancel()` does where the lock is asked for
	}
	return unlock, nil
}

// warm has the library make its table, and prepare what it says, by a lock that is nobody's.
func (t *table) warm(ctx context.Context) {
	spare, err := t.table(locks.PostgresNumber(t.env.Key + " before the story"))
	if err != nil {
		return
	}
	if unlock, err := spare.lock(ctx); err == nil {
		_ = unlock(ctx)
	}
}
