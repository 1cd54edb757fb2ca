// Package sqlite registers the properties of SQLite that are needed to read a scenario.
// Running one needs SQLite itself, so the simulation is in a module of its own,
// libraries/sqlite.
package sqlite

import (
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

func init() {
	sim.RegisterSystem(sim.System{
		Name:         locks.SQLite,
		Title:        "SQLite: a file on the machine of all clients",
		Node:         "SQLite file",
		Port:         1,
		Disks:        []sim.Disk{{Persistence: always, Keeps: []trace.Crash{trace.Shutdown, trace.Kill, trace.PowerLoss}}},
		Key:          locks.SQLiteRow,
		RevivesKeys:  true, // a row remains after its lease has ended, with the end of the lease in a column
		Failure:      "disk I/O error",
		RevokeAdvice: "a DELETE comes from a separate process, which opens the file; let the client crash",
	})
}

// always means that SQLite waits until what it syncs is on the disk. In a power loss, all
// that SQLite has written since the run began and has not synced is lost.
const always sim.Persistence = "always"
