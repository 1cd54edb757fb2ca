package sqlite

import (
	"time"

	"github.com/locksim/locksim/internal/rowregister"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/trace"
)

// A register emits the events of the world's locks: of lease rows when they are committed,
// and of files that a process has reserved.
type register struct {
	*rowregister.Register
	disk  *disk
	files []string
	data  data
}

// leaseDatabase is the database whose rows are leases.
const leaseDatabase = "locks.db"

func newRegister(d *disk, keys []string) *register {
	g := &register{Register: rowregister.NewRegister(d.host, func(holder string) string { return holder }), disk: d, files: keys, data: data{}}
	for _, key := range keys {
		g.Leases = append(g.Leases, &rowregister.Lease{Key: key})
	}
	return g
}

// emitReserved emits that a process has reserved a file, emitUnreserved that it has given
// it up.
func (g *register) emitReserved(o *openFile) { g.emit(o, trace.KindSet, o.reservedBy) }

func (g *register) emitUnreserved(o *openFile, by *trace.Actor, how trace.Kind) { g.emit(o, how, by) }

func (g *register) emit(o *openFile, kind trace.Kind, by *trace.Actor) {
	if g.hasData(o.database) && o.reservedBy != nil {
		g.disk.host.Emit(trace.Event{Kind: kind, Key: o.database.name, Value: o.end.Peer(), By: by, Owner: o.reservedBy})
	}
}

// emitChanges emits what a process has changed in the leases or in the data.
func (g *register) emitChanges(b *database, by *trace.Actor) {
	g.emitWrites(b, by)
	if g.forEachLease(b, func(l *rowregister.Lease, state rowregister.RowState) { g.Update(l, state, by, false) }) {
		g.ScheduleExpiry()
	}
}

// forEachLease calls f with each lease and the state of its row in a database. It returns
// false if the database has no leases or cannot be read.
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
				// Others may take the row when the time is later than the one in the row.
				state = rowregister.RowState{IsHeld: r.holder != "", Holder: r.holder, Ends: time.UnixMilli(r.until + 1)}
			}
		}
		f(l, state)
	}
	return true
}

// emitLost emits what a crash has undone.
func (g *register) emitLost() {
	for _, b := range g.disk.databases {
		g.emitReverts(b)
		g.forEachLease(b, g.Revert)
	}
	g.ClockChanged()
}
