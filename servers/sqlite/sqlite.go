// Package sqlite registers the properties of SQLite that are needed to read a scenario. The
// simulation itself needs SQLite, and is in the package libraries/sqlite.
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
		RevivesKeys:  true, // a row remains after its lease has ended, with the end in a column
		Failure:      "disk I/O error",
		RevokeAdvice: "a DELETE comes from a separate process, which opens the file; let the client crash",
	})
}

// always is persistence where SQLite waits until what it syncs is on the disk. A power loss
// takes what SQLite has not synced since the run began.
const always sim.Persistence = "always"
