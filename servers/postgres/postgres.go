// Package postgres is a simulated PostgreSQL server. It speaks the client protocol of
// version 15 and the part of SQL that locks need, and it runs on the world's loop.
//
// A statement sees what was committed when it began (READ COMMITTED, the default). It waits
// for rows that other transactions have locked, and checks its condition again on their new
// versions. A statement happens at one moment, unless it waits. now() is when the
// transaction began, by the server's time of day, which faults can set. Committed data is
// on the disk.
//
// A query has one table. There are no joins, groups, client-made views, triggers, foreign
// keys, savepoints or other isolation levels. Of the server's own views it has what locks
// ask for: the advisory locks of pg_locks, the client sessions in pg_stat_activity, the
// session's database in pg_database and the clients' tables in pg_tables. Of a row's system
// columns it has xmin, xmax and ctid. The server refuses everything else with PostgreSQL's
// own code 0A000 or 42601, and a run with such a refusal proves nothing. Its tests compare
// it with a real server. The answers that differ are listed, with the reason, in the tests'
// tables.
//
// A pooler can run in front of the server. It gives its clients one of a few sessions for
// one transaction at a time.
//
// A server can be the standby of another one. The primary sends it what is on its own disk,
// after the commit or, with synchronous_standby_names, before the commit counts. A standby
// can be read and promoted.
//
// # Locks
//
// A lock's slot (see [locks.Kind]) is one of these:
//
//   - TABLE/KEY is the row of a table whose first key has one column with the text or number KEY.
//     If the table has a column holder or locked_by, the row is a lease: that column names the
//     holder, and the column expires_at or lease_expires_at, if there is one, says when the lease
//     ends. The trace reports the lease when it is committed and again when it expires by the
//     server's clock. If the column is client_expires_at instead, the server never expires the
//     row: the client that takes it over has judged by its own clock that the lease has ended. A
//     row of any other table is a lock while a transaction has locked it.
//   - advisory/NUMBER, or advisory/NUMBER,NUMBER, is an advisory lock.
//
// # Data
//
// A table holds data that the locks protect if it has a text key of one column, and the
// columns version and value. The trace reports a row that a client reads as a read. It
// reports what a transaction wrote as a write, when the transaction commits. An UPDATE that
// names a row by its key, but changes none because another condition does not hold, is a
// refused write.
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
		Reads:       []string{ReadCommitted},
		Settings:    append([]sim.Setting{synchronousSetting}, poolSettings...),

		Revokes:         true,
		RevokesSessions: true,

		Failure: "could not extend file: No space left on device",
		Framer:  func(names *sim.Names) sim.Framer { return &framer{names: names, statements: map[string]string{}} },
		Boot:    boot,
	})
}

// Always is persistence where committed data is on the disk before the client gets the
// answer. It is PostgreSQL's default.
const Always sim.Persistence = "always"
