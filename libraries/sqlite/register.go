package sqlite

import (
	"time"

	"github.com/locksim/locksim/internal/rowregister"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/trace"
)

// A register records the events of the world's locks in the trace: when lease rows are
// committed or expire, and when a process reserves a file.
type register struct {
	*rowregister.Register
	disk  *machine
	files []string // the keys of the locks; some of them are names of files
	data  data     // as last committed
}

// leaseDatabase is the file whose rows are leases.
const leaseDatabase = "locks.db"

// newRegister makes the register for the locks that are kept under these keys.
func newRegister(d *machine, keys []string) *register {
	g := &register{Register: rowregister.NewRegister(d.host, func(holder string) string { return holder }), disk: d, files: keys, data: data{}}
	for _, key := range keys {
		g.Leases = append(g.Leases, &rowregister.Lease{Key: key})
	}
	return g
}

// emitReserved records that a process has reserved a file. emitUnreserved records that the process
// no longer reserves the file; how is the kind of the event.
func (g *register) emitReserved(o *openFile) { g.emit(o, trace.KindSet, o.reservedBy) }

func (g *register) emitUnreserved(o *openFile, by *trace.Actor, how trace.Kind) { g.emit(o, how, by) }

// emit records an event about a file that is reserved, if a lock is kept in the file.
func (g *register) emit(o *openFile, kind trace.Kind, by *trace.Actor) {
	if g.hasData(o.database) && o.reservedBy != nil {
		g.disk.host.Emit(trace.Event{Kind: kind, Key: o.database.name, Value: o.end.Peer(), By: by, Owner: o.reservedBy})
	}
}

// emitChanges records what a process has changed in the leases or in the data.
func (g *register) emitChanges(b *database, by *trace.Actor) {
	g.emitWrites(b, by)
	if g.forEachLease(b, func(l *rowregister.Lease, state rowregister.RowState) { g.Update(l, state, by, false) }) {
		g.ScheduleExpiry()
	}
}

// forEachLease calls f for each lease with the state of its row in a database. It returns
// false if the database keeps no leases, or cannot be read.
func (g *register) forEachLease(b *database, f func(*rowregister.Lease, rowregister.RowState)) bool {
	if b.name != leaseDatabase {
		return false
	}
	rows, err := readLeases(b.cached)
	if err != nil {
		g.disk.host.Doubt("the holders of the locks cannot be determined: " + err.Error())
		return false
	}
	for _, l := range g.Leases {
		var state rowregister.RowState
		for _, r := range rows {
			if locks.SQLiteRow(r.name) == l.Key {
				// Another client may take the row one millisecond later.
				state = rowregister.RowState{IsHeld: r.holder != "", Holder: r.holder, Ends: time.UnixMilli(r.expires + 1)}
			}
		}
		f(l, state)
	}
	return true
}

// emitLost records what a crash has undone.
func (g *register) emitLost() {
	for _, b := range g.disk.databases {
		g.emitReverts(b)
		g.forEachLease(b, g.Revert)
	}
	g.ClockChanged()
}
