package sqlite

import (
	"context"
	"database/sql"
	"maps"
	"strings"

	sqlite3 "modernc.org/sqlite/lib"
)

// A row is one of the table locks.
type row struct {
	name, holder string
	until        int64 // in milliseconds since 1970
}

// read is what stands in the leases of a database for whoever opens it, who rolls back what has a
// journal: none if it has no such table.
func read(is contents) ([]row, error) {
	name, unmount, err := mount(&image{files{has: maps.Clone(is)}})
	if err != nil {
		return nil, err
	}
	defer unmount()
	db, err := sql.Open("sqlite", "file:/image.db?vfs="+name)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	rows, err := db.QueryContext(context.Background(), `SELECT name, holder, expires_at FROM locks ORDER BY name`)
	if err != nil {
		if strings.Contains(err.Error(), "no such table") {
			err = nil
		}
		return nil, err
	}
	defer rows.Close()
	var all []row
	for rows.Next() {
		var r row
		if err := rows.Scan(&r.name, &r.holder, &r.until); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, rows.Err()
}

// An image is a copy of a database, to be looked at and thrown away.
type image struct{ files }

func (i *image) open(file string, make bool) int32 {
	if file == journal {
		return i.files.open(file, make)
	}
	return sqlite3.SQLITE_OK
}

func (i *image) remove(file string, _ bool) int32 {
	delete(i.has, file)
	return sqlite3.SQLITE_OK
}

func (*image) close(string)            {}
func (*image) sync(string) int32       { return sqlite3.SQLITE_OK }
func (*image) lock(level) int32        { return sqlite3.SQLITE_OK }
func (*image) unlock(level) int32      { return sqlite3.SQLITE_OK }
func (*image) reserved() (bool, int32) { return false, sqlite3.SQLITE_OK }
