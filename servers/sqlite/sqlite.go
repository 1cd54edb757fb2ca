// Package sqlite says what is known of SQLite: enough to read a scenario. What plays it needs
// SQLite itself, and is in the package libraries/sqlite.
package sqlite

import (
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

func init() {
	sim.RegisterSystem(sim.System{
		Name:      locks.SQLite,
		Title:     "SQLite: a file on the machine of all clients",
		Node:      "SQLite file",
		Port:      1,
		Disks:     []sim.Disk{{Persistence: always, Keeps: []trace.Crash{trace.Shutdown, trace.Kill, trace.PowerLoss}}},
		Key:       locks.SQLiteRow,
		Revives:   true, // a row stays, and says until when it is somebody's
		Failure:   "disk I/O error",
		Unrevoked: "a DELETE is made by a process of its own, which opens the file; let the client crash",
	})
}

// always has on the disk what SQLite has asked to be there, before SQLite goes on. What it has not
// asked for since the story began, a power loss takes.
const always sim.Persistence = "always"
