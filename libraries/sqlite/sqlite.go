// Package sqlite provides the locks whose names begin with sqlite, on modernc.org/sqlite,
// unmodified, by database/sql. See [locks.Provide].
//
// SQLite is a library and a file, and no server. So what is simulated is the machine that its
// processes share: the node sqlite-1 is its disk, with the operating system's locks on files and
// the one time of day that all read. Each client runs SQLite itself. What SQLite asks its
// operating system for goes to the node as a message: the lock of a file, to give it back, to have
// a file on the disk, to delete a journal. What it reads and writes in between needs no message of
// its own: nobody else may touch the file meanwhile, and so it goes with the next one.
//
// All is as SQLite has it by default: a rollback journal, which is deleted when a transaction
// counts, and rolled back by the next one who opens the file if it is still there. After a power
// loss that can be one that was deleted: SQLite waits for what it writes to be on the disk, and for
// what it deletes only if it is told to (synchronous = EXTRA). A write-ahead log is left out: it
// needs memory that processes share.
//
// # Locks
//
// A lock's slot (see [locks.Kind]) is one of these:
//
//   - locks/KEY is the row of the table locks in locks.db whose name is KEY: a lease of who stands
//     in the column holder, until the time in expires_at, in milliseconds since 1970. It is told
//     when it is committed, and again when its time is up by the machine's clock.
//   - KEY.db is that file: who has reserved it for writing has the lock. sqlite-transaction-data
//     keeps the data in its table objects, and what becomes of that is told when it is committed.
package sqlite

import (
	"github.com/locksim/locksim/locks"
	_ "github.com/locksim/locksim/servers/sqlite" // what is known of the node
	"github.com/locksim/locksim/sim"
)

func init() {
	sim.ProvideSystem(locks.SQLite, func(*sim.Names) sim.Framer { return framer{} }, boot)
}
