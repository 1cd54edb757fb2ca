// Package postgres is a simulated PostgreSQL server. It speaks the client protocol of
// version 15 and the part of SQL that locks need, and it runs in the goroutine of the
// world's event loop.
//
// A statement sees what was committed when it began (READ COMMITTED, the default). It waits
// for rows that other transactions have locked, and checks its condition again on their new
// versions. A statement happens at one moment, unless it waits. now() is when the
// transaction began, by the server's wall clock, which faults can set. Committed data is
// on the disk.
//
// A query has one table. There are no joins, groups, client-made views, triggers, foreign
// keys, savepoints or other isolation levels. PostgreSQL's own views contain only what
// clients of locks ask for: the advisory locks in pg_locks, the client sessions in
// pg_stat_activity, the session's database in pg_database and the clients' tables in
// pg_tables. The system columns of a row are xmin, xmax and ctid. The server refuses
// everything else with PostgreSQL's own code 0A000 or 42601. A run with such a refusal is
// inconclusive. The tests of this package compare the server with a real one. Their tables
// list the answers that differ, with the reason.
//
// A pooler can run in front of the server. It gives its clients one of a few sessions for
// one transaction at a time.
//
// A server can be the standby of another one, its primary. The primary sends the standby
// each transaction that is on the primary's own disk. With the setting
// synchronous_standby_names, a commit waits until the standby has confirmed it. Clients can
// read from a standby, and it can be promoted.
//
// # Locks
//
// A slot is the place where a lock keeps its grant (see [locks.Kind]). On this server it is
// one of these:
//
//   - TABLE/KEY is the row of TABLE in which a primary or unique key of one column has the text or
//     number KEY. If the table has a column holder or locked_by, the row is a lease: that column
//     names the holder, and the column expires_at or lease_expires_at, if there is one, says when
//     the lease ends. (In the table locks, more names are possible: see [locks.HolderColumns].)
//     The trace reports the lease when it is committed and again when it expires by the server's
//     clock. If the column with the end is client_expires_at instead, the server never expires the
//     row: a client takes the row over when, by its own clock, the lease has ended. If the table
//     has a column record_version_number, a client takes the row over when it has not seen this
//     number change for some time. A row of any other table is a lock while a transaction has
//     locked it.
//   - advisory/NUMBER, or advisory/NUMBER,NUMBER, is an advisory lock.
//
// # Data
//
// A table holds data that the locks protect if it has a text key of one column, and the
// columns version and value. The trace has an event for each row that a client reads. When
// a transaction commits, the trace gets an event for each row that the transaction wrote.
// An UPDATE that names a row by its key, but changes none because another condition does
// not hold, is a refused write.
package postgres

import (
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

func init() {
	sim.RegisterSystem(sim.System{
		Name:  locks.Postgres,
		Title: "PostgreSQL",
		Node:  "PostgreSQL server",
		Port:  5432,
		Disks: []sim.Disk{{Persistence: Always, Keeps: []trace.Crash{trace.Shutdown, trace.Kill, trace.PowerLoss}}},
		Key:   locks.PostgresRow,

		Replicates:  true,
		RevivesKeys: true, // a row remains after its lease has ended, with the end in a column
		Reads:       []string{readCommitted},
		Settings:    append([]sim.Setting{synchronousSetting}, poolSettings...),

		Revokes:         true,
		RevokesSessions: true,

		Failure: "could not extend file: No space left on device",
		Framer:  func(names *sim.Names) sim.Framer { return &framer{names: names, statements: map[string]string{}} },
		Boot:    boot,
	})
}

// Always is the persistence in which committed data is on the disk before the client gets
// the reply. It is PostgreSQL's default.
const Always sim.Persistence = "always"
