// Package sqlite provides the locks whose names begin with sqlite, on modernc.org/sqlite,
// unmodified, through database/sql. See [locks.Provide].
//
// SQLite is a library and a file, without a server. The simulated part is the machine that
// its processes share: the node sqlite-1 is its disk, with the operating system's locks on
// files and the time of day that all processes read. Each client runs SQLite itself.
// SQLite's requests to its operating system go to the node as messages: lock and unlock the
// file, sync a file, delete a journal. Reads and writes in between need no messages of
// their own: no other process may touch the file meanwhile, and so the writes go with the
// next message.
//
// SQLite runs with its defaults, with a rollback journal. The journal is deleted when a
// transaction counts. If it still exists, the next process that opens the file rolls the
// transaction back. After a power loss a deleted journal can be there again: SQLite waits
// until its writes are on the disk, but waits for its deletions only with synchronous =
// EXTRA. There is no write-ahead log, because that needs memory that processes share.
//
// # Locks
//
// A lock's slot (see [locks.Kind]) is one of these:
//
//   - locks/KEY is the row of the table locks in locks.db whose name is KEY. It is a lease: the
//     column holder names the holder, and expires_at is its end in milliseconds since 1970. The
//     trace reports the lease when it is committed, and again when it expires by the machine's
//     clock.
//   - KEY.db is that file. The process that has reserved it for writing holds the lock. The lock
//     sqlite-transaction-data keeps its data in the file's table objects, and the trace reports
//     changes there when they are committed.
package sqlite

import (
	"github.com/locksim/locksim/locks"
	_ "github.com/locksim/locksim/servers/sqlite" // registers the node's properties
	"github.com/locksim/locksim/sim"
)

func init() {
	sim.ProvideSystem(locks.SQLite, func(*sim.Names) sim.Framer { return framer{} }, boot)
}
