package goose

import (
	"context"
	"database/sql/driver"
	"errors"

	"github.com/pressly/goose/v3/lock"
)

// session is a locker whose lock is an advisory lock of a connection. While the lock is
// held, the pool gives the connection to nobody else.
type session struct {
	*handle
	lock.SessionLocker
}

// newSession returns a session for the lock of the handle.
func newSession(h *handle) (locker, error) {
	l, err := lock.NewPostgresSessionLocker(lock.WithLockID(h.lockNumber))
	return &session{h, l}, err
}

// lock acquires the lock as goose's own provider does, and keeps the connection. After the
// release the provider returns the connection to the pool, whether the unlock succeeded or
// failed. If it failed, the connection still holds the lock.
func (s *session) lock(ctx context.Context) (func(context.Context) error, error) {
	ctx = context.WithValue(ctx, lockerKey{}, s.id)
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.SessionLock(ctx, conn); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return func(ctx context.Context) error {
		ctx = context.WithValue(context.WithoutCancel(ctx), lockerKey{}, s.id)
		err := s.SessionUnlock(ctx, conn)
		if err != nil && s.env.Options.Has("discard") {
			_ = conn.Raw(func(any) error { return driver.ErrBadConn })
			return err
		}
		return errors.Join(err, conn.Close())
	}, nil
}

// warmUp opens the connection.
func (s *session) warmUp(ctx context.Context) { _ = s.db.PingContext(ctx) }
