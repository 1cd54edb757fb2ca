package locks

import "fmt"

// A lease can be the row of a table, which says who has it and until when.
var (
	// HolderColumns is what the column may be called that says who has it, and EndColumns that
	// which says until when. The first that there is counts; in another table than [PostgresRow]'s
	// only the first two do, since what is not a lock may have an owner and an end, too.
	HolderColumns = []string{"holder", "locked_by", "owner", "held_by", "holder_id", "owner_id"}
	EndColumns    = []string{"expires_at", "lease_expires_at", "lock_until", "locked_until", "expires", "valid_until"}
)

// PostgresRow is the row that a lock is kept in: that of the table locks which has the lock's name
// as a key.
func PostgresRow(key string) string { return "locks/" + key }

// PostgresLease is another one: the row of a table that has some key, with the columns that say who
// has it, and until when. The end is a timestamp, or a number of seconds, milliseconds,
// microseconds or nanoseconds since 1970, by the server's clock; "" is none.
func PostgresLease(table, key, holder, end string) string {
	return fmt.Sprintf("%s(%s,%s)/%s", table, holder, end, key)
}
