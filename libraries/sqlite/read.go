package sqlite

import (
	"context"
	"database/sql"
	"maps"
	"strings"

	sqlite3 "modernc.org/sqlite/lib"
)

// A row is a row of the table locks.
type row struct {
	name, holder string
	expires      int64 // the end of the lease, in milliseconds since 1970
}

// readLeases returns the rows of the table locks in a database.
func readLeases(c contents) ([]row, error) {
	return read(c, `SELECT name, holder, expires_at FROM locks ORDER BY name`, func(rows *sql.Rows) (r row, err error) {
		err = rows.Scan(&r.name, &r.holder, &r.expires)
		return r, err
	})
}

// A datum is a row of the table objects.
type datum struct {
	object  string
	version int
	value   string
}

// readData returns the rows of the table objects in a database.
func readData(c contents) ([]datum, error) {
	return read(c, `SELECT name, version, value FROM objects ORDER BY name`, func(rows *sql.Rows) (d datum, err error) {
		err = rows.Scan(&d.object, &d.version, &d.value)
		return d, err
	})
}

// read returns the rows that a query would return to a process that opens the database now.
// If there is a journal, opening the database rolls it back. The result is empty if the
// table does not exist.
func read[T any](c contents, query string, scan func(*sql.Rows) (T, error)) ([]T, error) {
	name, unmount, err := mount(&image{files{contents: maps.Clone(c)}})
	if err != nil {
		return nil, err
	}
	defer unmount()
	db, err := sql.Open("sqlite", "file:/image.db?vfs="+name)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	rows, err := db.QueryContext(context.Background(), query)
	if err != nil {
		if strings.Contains(err.Error(), "no such table") {
			err = nil
		}
		return nil, err
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		t, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, rows.Err()
}

// An image is a temporary copy of a database, which a real SQLite can open without any
// requests to the machine. Its methods implement system. Locks and syncs always succeed,
// because no other process uses the copy.
type image struct{ files }

// open opens a file of the copy.
func (i *image) open(file string, make bool) int32 {
	if file == journal {
		return i.files.open(file, make)
	}
	return sqlite3.SQLITE_OK
}

// remove deletes a file of the copy.
func (i *image) remove(file string, _ bool) int32 {
	delete(i.contents, file)
	return sqlite3.SQLITE_OK
}

func (*image) close(string)            {}
func (*image) sync(string) int32       { return sqlite3.SQLITE_OK }
func (*image) lock(level) int32        { return sqlite3.SQLITE_OK }
func (*image) unlock(level) int32      { return sqlite3.SQLITE_OK }
func (*image) reserved() (bool, int32) { return false, sqlite3.SQLITE_OK }
