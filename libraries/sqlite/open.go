package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"modernc.org/sqlite"

	"github.com/locksim/locksim/locks"
)

// OpenDB opens the database with this name on the simulated machine. Use it for a lock of
// your own on SQLite, and call it when the lock is made; Env.Close closes it. If the lock is
// a row, the database has to be locks.db: see [locks.SQLiteRow].
//
// It is modernc.org/sqlite through database/sql, with these differences:
//
//   - SQLite waits up to five seconds for another process (busy_timeout), transactions begin
//     with BEGIN IMMEDIATE, and the pool has one connection.
//   - A context does not interrupt SQLite while it waits for the machine. It limits the waits
//     for the pool.
//   - If the connection to the machine breaks, the next call opens the database again.
func OpenDB(e *locks.Env, name string) (*sql.DB, error) {
	if len(e.Nodes) == 0 {
		return nil, errors.New("a lock on SQLite needs a file, but there is none")
	}
	c := &connector{files: &files{env: e, name: name}}
	vfs, unmount, err := mount(c.files)
	if err != nil {
		return nil, err
	}
	c.dsn = fmt.Sprintf("file:/%s?vfs=%s&_pragma=busy_timeout(%d)&_txlock=immediate", name, vfs, busyTimeout)
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(1)
	e.Cleanup(func() {
		_ = db.Close()
		unmount()
	})
	return db, nil
}

// A connector opens the database for a pool.
type connector struct {
	dsn   string
	files *files
}

// Connect implements [driver.Connector].
func (c *connector) Connect(context.Context) (driver.Conn, error) {
	conn, err := c.Driver().Open(c.dsn)
	if err != nil {
		return nil, err
	}
	return connection{conn.(sqliteConn), c.files}, nil
}

// Driver implements [driver.Connector].
func (c *connector) Driver() driver.Driver { return new(sqlite.Driver) }

// A sqliteConn has the methods of the driver's connections that database/sql uses.
type sqliteConn interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ConnBeginTx
	driver.ExecerContext
	driver.QueryerContext
}

// A connection is a connection of the driver whose calls are not interrupted, and which the
// pool replaces when the connection to the machine is broken.
type connection struct {
	sqliteConn
	files *files
}

// IsValid implements [driver.Validator].
func (c connection) IsValid() bool { return c.files.broken == nil }

// PrepareContext implements [driver.ConnPrepareContext].
func (c connection) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	return c.sqliteConn.PrepareContext(context.WithoutCancel(ctx), query)
}

// BeginTx implements [driver.ConnBeginTx].
func (c connection) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	return c.sqliteConn.BeginTx(context.WithoutCancel(ctx), o)
}

// ExecContext implements [driver.ExecerContext].
func (c connection) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return c.sqliteConn.ExecContext(context.WithoutCancel(ctx), query, args)
}

// QueryContext implements [driver.QueryerContext].
func (c connection) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return c.sqliteConn.QueryContext(context.WithoutCancel(ctx), query, args)
}
