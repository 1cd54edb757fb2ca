package goose

import (
	"context"
	"database/sql/driver"
	"errors"

	"github.com/pressly/goose/v3/lock"
)

// session is a locker by an advisory lock of a connection, which the pool gives nobody else
// meanwhile.
type session struct {
	*handle
	lock.SessionLocker
}

func newSession(h *handle) (locker, error) {
	l, err := lock.NewPostgresSessionLocker(lock.WithLockID(h.number))
	return &session{h, l}, err
}

// lock asks as goose's own provider does, which keeps the connection. Afterwards the provider gives it
// back to the pool, whatever the unlock came to: with the lock, if the server was asked in vain.
func (s *session) lock(ctx context.Context) (func(context.Context) error, error) {
	ctx = context.WithValue(ctx, whose{}, s.who)
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.SessionLock(ctx, conn); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return func(ctx context.Context) error {
		ctx = context.WithValue(context.WithoutCancel(ctx), whose{}, s.who)
		err := s.SessionUnlock(ctx, conn)
		if err != nil && s.env.Options.Has("discard") {
			_ = conn.Raw(func(any) error { return driver.ErrBadConn })
			return err
		}
		return errors.Join(err, conn.Close())
	}, nil
}

// warm opens the connection.
func (s *session) warm(ctx context.Context) { _ = s.db.PingContext(ctx) }
