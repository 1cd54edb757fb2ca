package sqlite

import (
	"context"
	"database/sql"
	"strings"

	sqlite3 "modernc.org/sqlite/lib"
)

// A row is one of the table locks.
type row struct {
	name, holder string
	until        int64 // in milliseconds since 1970
}

// read is what stands in the leases of a database: none if it has no such table.
func read(database []byte) ([]row, error) {
	name, unmount, err := mount(&image{database: database})
	if err != nil {
		return nil, err
	}
	defer unmount()
	db, err := sql.Open("sqlite", "file:/image.db?immutable=1&vfs="+name)
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

// An image is a database that is only looked at.
type image struct {
	files
	database []byte
}

func (i *image) open(file string, _ bool) int32 {
	if file == journal {
		return sqlite3.SQLITE_CANTOPEN
	}
	i.has = contents{itself: i.database}
	return sqlite3.SQLITE_OK
}

func (*image) close(string)       {}
func (*image) lock(level) int32   { return sqlite3.SQLITE_OK }
func (*image) unlock(level) int32 { return sqlite3.SQLITE_OK }
