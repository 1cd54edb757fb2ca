package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/locksim/locksim/locks"
)

// A Session is a database that one handle of a lock has open, through database/sql. If the
// connection to the machine breaks, the next request opens the database again.
type Session struct {
	env   *locks.Env
	files *files
	dsn   string // what database/sql opens
	db    *sql.DB
	// inUse is full while a caller uses the session. It is a channel instead of a mutex,
	// because virtual time does not pass while a goroutine waits for a mutex.
	inUse chan struct{}
}

// busyTimeout is how long SQLite waits for a lock on the file, in milliseconds. Most
// programs set such a timeout; by default the driver does not wait.
const busyTimeout = 5000

// Open opens the database with this name for one handle of a lock. Call it when the handle
// is made. The SQL statement setup is executed before the run begins.
func Open(e *locks.Env, name, setup string) (*Session, error) {
	if len(e.Nodes) == 0 {
		return nil, errors.New("a lock on SQLite needs a file, but there is none")
	}
	s := &Session{env: e, files: &files{env: e, name: name}, inUse: make(chan struct{}, 1)}
	vfs, unmount, err := mount(s.files)
	if err != nil {
		return nil, err
	}
	waits := busyTimeout
	if !e.Options.Has("busy-timeout") {
		waits = 0
	}
	s.dsn = fmt.Sprintf("file:/%s?vfs=%s&_pragma=busy_timeout(%d)&_txlock=immediate", name, vfs, waits)
	if !e.Options.Has("synchronous") { // the default is not set explicitly, because that would read the file
		s.dsn += "&_pragma=synchronous(OFF)"
	}
	e.Cleanup(func() {
		s.close()
		unmount()
	})
	e.OnWarmUp(func(ctx context.Context) {
		_ = s.use(ctx, func(ctx context.Context, db *sql.DB) error {
			_, err := db.ExecContext(ctx, setup)
			return err
		})
	})
	return s, nil
}

// close closes the database; the next request opens it again.
func (s *Session) close() {
	if s.db != nil {
		_ = s.db.Close()
		s.db = nil
	}
}

// use calls f with the database, when no other caller uses it. SQLite gets a context that
// does not end: its requests to the operating system cannot be cancelled, and busy_timeout
// limits all other waits.
func (s *Session) use(ctx context.Context, f func(context.Context, *sql.DB) error) error {
	select {
	case s.inUse <- struct{}{}:
		defer func() { <-s.inUse }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	if s.files.broken != nil {
		s.close()
	}
	if s.db == nil {
		db, err := sql.Open("sqlite", s.dsn)
		if err != nil {
			return err
		}
		db.SetMaxOpenConns(1)
		s.db = db
	}
	return s.stableError(f(ctx, s.db))
}

// stableError returns an error whose text is equal in every run.
func (s *Session) stableError(err error) error {
	var e *sqlite.Error
	switch {
	case err == nil, errors.Is(err, sql.ErrNoRows):
		return err
	case s.files.broken != nil:
		return fmt.Errorf("disk I/O error: %w", s.files.broken)
	case errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_BUSY:
		return errBusy
	}
	return err
}

// errBusy replaces SQLITE_BUSY: another process has locked the file.
var errBusy = errors.New("database is locked (SQLITE_BUSY)")
