package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/internal/answers"
	"github.com/locksim/locksim/locks"
)

// A Session is a connection to the PostgreSQL server, with its prepared statements. When
// the connection has ended, the next request opens another connection.
type Session struct {
	env        *locks.Env
	config     *pgx.ConnConfig
	setup      string   // the statements that set the database up
	statements []string // the statements to prepare
	// turn is full while a caller uses the session. It is a channel and not a mutex,
	// because virtual time does not pass while a goroutine waits for a mutex.
	turn chan struct{}
	conn *pgx.Conn // nil if there is none
}

// defaultTimeout is how long a request may take if the lock's options do not say.
const defaultTimeout = 5 * time.Second

// Open returns the session of one handle of a lock of this package. Call it when the handle
// is made. Before the run begins, the session executes the setup, such as CREATE TABLE IF
// NOT EXISTS, and prepares the statements. A process that has been running for a while
// would have done both.
func Open(e *locks.Env, setup string, statements ...string) (*Session, error) {
	config, err := Config(e)
	if err != nil {
		return nil, err
	}
	s := &Session{env: e, config: config, setup: setup, statements: statements, turn: make(chan struct{}, 1)}
	e.OnWarmUp(func(ctx context.Context) {
		_, _ = use(ctx, s, func(ctx context.Context, c *pgx.Conn) (pgconn.CommandTag, error) { return c.Exec(ctx, setup) })
		_, _ = use(ctx, s, s.prepare)
	})
	return s, nil
}

// setDuration makes a length of time the value of a setting of new connections. Call it
// when the handle is made.
func (s *Session) setDuration(name string, d time.Duration) {
	s.config.RuntimeParams[name] = fmt.Sprint(d.Milliseconds())
}

// timeout returns how long a request may take.
func (s *Session) timeout() time.Duration { return cmp.Or(s.env.Options.NodeTimeout, defaultTimeout) }

// prepare prepares the statements. The tag that it returns is always empty.
func (s *Session) prepare(ctx context.Context, c *pgx.Conn) (tag pgconn.CommandTag, err error) {
	for _, text := range s.statements {
		if _, err = c.Prepare(ctx, text, text); err != nil {
			return tag, err
		}
	}
	return tag, nil
}

// use calls f with the connection. It opens one first if there is none. Both together may
// take only as long as a request may take. Errors have texts that are equal in every run.
func use[T any](ctx context.Context, s *Session, f func(context.Context, *pgx.Conn) (T, error)) (result T, err error) {
	boundedCtx, cancel := fakeclock.WithTimeout(ctx, s.env.Clock, s.timeout())
	defer cancel()
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-boundedCtx.Done():
		return result, answers.WithCause(ctx, errors.New("the connection is in use"))
	}
	if s.conn == nil || s.conn.IsClosed() {
		if s.conn, err = pgx.ConnectConfig(boundedCtx, s.config); err != nil {
			s.conn = nil
			return result, stableError(ctx, err)
		}
	}
	if result, err = f(boundedCtx, s.conn); err != nil {
		return result, stableError(ctx, err)
	}
	return result, nil
}

// stableError returns the error with a text that is equal in every run.
func stableError(ctx context.Context, err error) error {
	if errors.Is(err, pgx.ErrNoRows) || errors.Is(err, errHeld) {
		return err
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return fmt.Errorf("%s (SQLSTATE %s)", e.Message, e.Code)
	}
	return answers.WithCause(ctx, errors.New(answers.Reason(err)))
}
