// Package postgres is a simulated PostgreSQL server: the protocol of clients as version 15
// speaks it, and of SQL what locks are made of, on the world's loop.
//
// Statements see what was committed when they began (READ COMMITTED, the default), wait for
// rows that others have locked, and look again at what those have become. A statement happens
// at one moment, unless it waits. now() is when the transaction began, by the server's time of
// day, which faults can set. What is committed is on the disk.
//
// It has one table in a query, and no joins, groups, views that clients make, triggers, foreign keys,
// savepoints or other isolation levels. Of the server's own views it has what locks ask for: the
// advisory locks of pg_locks, the sessions of clients in pg_stat_activity, the session's database in
// pg_database and the clients' tables in pg_tables; of a row's system columns xmin, xmax and ctid.
// What it does not have it refuses: with PostgreSQL's own code 0A000 or 42601, and a run in which that
// happens proves nothing. Where it answers otherwise than the real one stands in a table of
// differences, which its tests compare with a real one.
//
// A pooler can stand before it, which gives its clients a few sessions for a transaction each.
//
// A server can be the standby of another, which sends it what it has on its disk, after the fact or
// before a commit counts (synchronous_standby_names). It can be read, and be promoted.
//
// # Locks
//
// A lock's slot (see [locks.Kind]) is one of these:
//
//   - TABLE/KEY is the row of a table whose first key, of one column, is the text or the number
//     KEY. If the table has a column holder, or locked_by, the row is a lease of who stands there,
//     until the time in the column expires_at, or lease_expires_at, if it has one: it is told when
//     it is committed, and again when its time is up by the server's clock. If the column is
//     client_expires_at instead, the server leaves the row as it is: who takes it over has judged
//     by a clock of its own that its time is up. A row of another table is a lock while a
//     transaction has locked it.
//   - advisory/NUMBER, or advisory/NUMBER,NUMBER, is an advisory lock.
//
// # Data
//
// A table with a key of one column, which is a text, and the columns version and value holds
// data that the locks protect: what a client is shown of it is told as a read, and what a
// transaction has made of it as a write, when it is committed. An UPDATE that names a row of it by
// its key, and changes none because another condition does not hold, is a write that was refused.
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

		Replicates: true,
		Revives:    true, // a row stays, and says until when it is somebody's
		Reads:      []string{ReadCommitted},
		Settings:   append([]sim.Setting{synchronousSetting}, poolSettings...),

		Revokes:         true,
		RevokesSessions: true,

		Failure: "could not extend file: No space left on device",
		Framer:  func(names *sim.Names) sim.Framer { return &framer{names: names, statements: map[string]string{}} },
		Boot:    boot,
	})
}

// Always has what is committed on the disk before the client is told, as PostgreSQL does without
// any setting.
const Always sim.Persistence = "always"
