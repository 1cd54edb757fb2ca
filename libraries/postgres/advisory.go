package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/locksim/locksim/locks"
)

func init() {
	locks.Provide("postgres-advisory", func(e *locks.Env) (locks.Lock, error) {
		if len(e.Nodes) == 0 {
			return nil, errors.New("postgres-advisory needs a PostgreSQL server, but there is none")
		}
		s, err := Open(e, `CREATE SEQUENCE IF NOT EXISTS fence`, tryLock, unlock)
		return &advisory{Session: s, env: e, number: locks.PostgresNumber(e.Key)}, err
	})
}

const (
	tryLock = `SELECT CASE WHEN pg_try_advisory_lock($1) THEN nextval('fence') END`
	unlock  = `SELECT pg_advisory_unlock($1)`
)

// advisory is a handle on an advisory lock of its connection. The server does not tell those of
// one connection apart, so that each handle has a connection of its own.
type advisory struct {
	*Session
	env    *locks.Env
	number int64
	held   *grant // nil: there is none, or it is over
}

// errHeld is the error of a handle that is asked for the lock while it has it. The server would
// give it once more: it counts how often a session has it, and lets nobody else have it until as
// many unlocks have come.
var errHeld = errors.New("this handle has it, and its connection would be given it again")

// Acquire tries once. If there is no answer the connection is closed: it might have the lock.
func (a *advisory) Acquire(ctx context.Context) (locks.Lease, error) {
	g := &grant{of: a}
	token, err := use(ctx, a.Session, func(ctx context.Context, c *pgx.Conn) (token *int64, err error) {
		if a.held != nil && a.held.on == c {
			return nil, errHeld
		}
		g.on = c
		return token, c.QueryRow(ctx, tryLock, a.number).Scan(&token)
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", locks.ErrNotAcquired, err)
	case token == nil:
		return nil, fmt.Errorf("%w: somebody else holds it", locks.ErrNotAcquired)
	}
	g.token, a.held = uint64(*token), g
	return g, nil
}

// A grant lasts as long as its connection.
type grant struct {
	of    *advisory
	on    *pgx.Conn
	token uint64
}

// Token is the number that the sequence gave, on the same connection and in the same statement:
// so nobody can have had the lock in between.
func (g *grant) Token() uint64 { return g.token }

// Release frees the lock. It is lost if the connection is another one.
func (g *grant) Release(ctx context.Context) error {
	freed, err := use(ctx, g.of.Session, func(ctx context.Context, c *pgx.Conn) (freed bool, err error) {
		if c != g.on || g.of.held != g {
			return false, nil
		}
		g.of.held = nil
		return freed, c.QueryRow(ctx, unlock, g.of.number).Scan(&freed)
	})
	switch {
	case err != nil:
		return fmt.Errorf("lock not released: %w", err)
	case !freed:
		return fmt.Errorf("%w before it was released", locks.ErrLost)
	}
	return nil
}
