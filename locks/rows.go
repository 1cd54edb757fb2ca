package locks

import "fmt"

// A lease can be a row of a table that has one column with the holder and one with the end.
var (
	// HolderColumns are the possible names of the column with the holder, and EndColumns those of
	// the column with the end. In the table of [PostgresRow], the column is the first name of a
	// list that the table has. In any other table only the first two names of each list count,
	// because a row that is not a lock may also have an owner and an end.
	HolderColumns = []string{"holder", "locked_by", "owner", "held_by", "holder_id", "owner_id"}
	EndColumns    = []string{"expires_at", "lease_expires_at", "lock_until", "locked_until", "expires", "valid_until"}
)

// PostgresRow returns the row that a lock is stored in: the row of the table locks with the
// lock's name as its key.
func PostgresRow(key string) string { return "locks/" + key }

// PostgresLease returns the slot key of a lease that is a row of some other table: key is
// the row's key, and holder and end are the columns with its holder and its end. The end is
// a timestamp by the server's clock, or a number of seconds, milliseconds, microseconds or
// nanoseconds since 1970; "" means that the row has no end.
func PostgresLease(table, key, holder, end string) string {
	return fmt.Sprintf("%s(%s,%s)/%s", table, holder, end, key)
}
