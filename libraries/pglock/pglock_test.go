// Package pglock runs package locktest against cirello.io/pglock, unmodified, on the simulated
// PostgreSQL. pglock keeps a lock as a row with a version. Its holder draws a new version with
// each heartbeat, and a client that has seen the same version for the length of a lease takes the
// row over.
package pglock

import (
	"context"
	"strings"
	"sync"
	"testing"

	"cirello.io/pglock"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/locksim/locksim/libraries/postgres"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// lock is pglock as its documentation uses it: Do calls a function while it holds the lock, and
// cancels the function's context when a heartbeat has failed.
type lock struct {
	newClient func() (*pglock.Client, error)
	name      string
	life      context.Context // ends with the world
}

// Acquire waits for the lock until its context ends, as Do does. Each call has a client of its
// own, with its own random name, so that the rows of two calls differ.
func (l lock) Acquire(ctx context.Context) (locks.Lease, error) {
	client, err := l.newClient()
	if err != nil {
		return nil, err
	}
	holds, cancel := context.WithCancel(l.life)
	stopWaiting := context.AfterFunc(ctx, cancel)
	granted := make(chan context.Context, 1)
	g := &lease{lost: make(chan struct{}), release: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(g.ended)
		defer cancel()
		_ = client.Do(holds, l.name, func(ctx context.Context, _ *pglock.Lock) error {
			granted <- ctx
			select {
			case <-g.release:
			case <-ctx.Done():
			}
			return nil
		})
	}()
	select {
	case held := <-granted:
		if stopWaiting() {
			g.stopWatching = context.AfterFunc(held, func() { close(g.lost) })
			return g, nil
		}
		<-g.ended
	case <-g.ended:
	}
	return nil, locks.ErrNotAcquired
}

type lease struct {
	lost    chan struct{} // closed when Do has cancelled its function's context
	release chan struct{} // closed to end the function
	ended   chan struct{} // closed when Do has returned
	// stopWatching keeps lost open when the lock ends by a release.
	stopWatching func() bool
	releaseOnce  sync.Once
}

// Lost implements [locks.Notifier].
func (l *lease) Lost() <-chan struct{} { return l.lost }

// Release ends the function that Do calls. Do then releases the lock, and does not say whether
// that succeeded.
func (l *lease) Release(context.Context) error {
	l.stopWatching()
	l.releaseOnce.Do(func() { close(l.release) })
	<-l.ended
	return nil
}

// TestPglock checks that the suite finds the known mistakes in pglock, and no others.
func TestPglock(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs every test case")
	}
	config := locktest.Config{
		System: locks.Postgres, Notifies: true, Known: "known.json",
		// The scenarios that are left out are about other kinds of locks on PostgreSQL. The test
		// case loss/notice ends a lease by the server's clock, which does not end a lease of
		// pglock.
		Stories: func(testCase string) bool {
			return !strings.HasPrefix(testCase, "catalogue/postgres-") && testCase != "loss/notice"
		},
	}
	locktest.Run(t, config, func(env *locktest.Env) (locks.Lock, error) {
		config, err := postgres.Config(env.Base())
		if err != nil {
			return nil, err
		}
		db := stdlib.OpenDB(*config)
		env.Cleanup(func() { _ = db.Close() })
		// The documentation wants at least two heartbeats in a lease, and advises four.
		newClient := func() (*pglock.Client, error) {
			return pglock.UnsafeNew(db,
				pglock.WithLeaseDuration(env.TTL()), pglock.WithHeartbeatFrequency(env.TTL()/4))
		}
		client, err := newClient()
		if err != nil {
			return nil, err
		}
		return lock{newClient, env.Key(), env.Base().Lifetime()}, client.TryCreateTable()
	})
}
