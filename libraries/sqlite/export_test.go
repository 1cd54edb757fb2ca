package sqlite

import (
	"context"
	"database/sql"
)

// Exec executes a statement and returns its rows, each of which has one column.
func (s *Session) Exec(ctx context.Context, text string) (all []string, err error) {
	err = s.use(ctx, func(ctx context.Context, db *sql.DB) (err error) {
		all, err = Rows(ctx, db, text)
		return err
	})
	return all, err
}

// Rows executes a statement and returns its rows, each of which has one column.
func Rows(ctx context.Context, db *sql.DB, text string) (all []string, err error) {
	rows, err := db.QueryContext(ctx, text)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, rows.Err()
}
