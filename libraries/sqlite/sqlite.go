// Package sqlite provides the locks whose names begin with sqlite. They use
// modernc.org/sqlite, unmodified, through database/sql. See [locks.Provide].
//
// SQLite is a library that works on a file; it has no server. Each client runs the real
// SQLite. The simulated part is the machine that all clients share. The node sqlite-1 is
// that machine: its disk, its time of day, and its operating system, which keeps locks on
// files. The requests of SQLite to its operating system are messages to the node: lock or
// unlock the file, sync a file, delete a journal. Reads and writes need no messages. While a
// process may write the file, no other process may read or write it. So its writes are sent
// together with its next request.
//
// SQLite runs with its defaults, and so with a rollback journal. A commit deletes the
// journal. If a journal still exists, the next process that opens the file rolls the
// transaction back. After a power loss, a journal that was deleted can exist again. SQLite
// waits until its writes are on the disk, but it waits for deletions only with synchronous =
// EXTRA. The write-ahead log of SQLite is not simulated, because it needs memory that
// processes share.
//
// # Locks
//
// A lock is kept in one of two places, which the trace shows as its slot (see [locks.Kind]):
//
//   - locks/KEY is a row in the file locks.db: the row of the table locks whose name is KEY.
//     The row is a lease. The column holder names the holder, and expires_at is the end of
//     the lease in milliseconds since 1970. The trace shows the lease when it is committed,
//     and again when it expires by the machine's clock.
//   - KEY.db is a file. The process that has reserved it for writing holds the lock. The lock
//     sqlite-transaction-data also keeps its data in that file, in the table objects. The
//     trace shows changes of the data when they are committed.
package sqlite

import (
	"github.com/locksim/locksim/locks"
	_ "github.com/locksim/locksim/servers/sqlite" // registers the node's properties
	"github.com/locksim/locksim/sim"
)

// The package servers/sqlite has registered the rest of the system's card.
func init() {
	sim.ProvideSystem(locks.SQLite, func(*sim.Names) sim.Framer { return framer{} }, boot)
}
