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
	d     *disk
	files []string
	data  data
}

// leaseDatabase is the database whose rows are leases.
const leasesIn = "locks.db"

func newRegister(d *disk, keys []string) *register {
	g := &register{Register: rowregister.NewRegister(d.host, func(holder string) string { return holder }), d: d, files: keys, data: data{}}
	for _, key := range keys {
		g.Leases = append(g.Leases, &rowregister.Held{Key: key})
	}
	return g
}

// emitReserved emits that a process has reserved a file, emitUnreserved that it has given
// it up.
func (g *register) reserved(o *opened) { g.tell(o, trace.KindSet, o.by) }

func (g *register) given(o *opened, by *trace.Actor, how trace.Kind) { g.tell(o, how, by) }

func (g *register) tell(o *opened, what trace.Kind, by *trace.Actor) {
	if g.keeps(o.of) && o.by != nil {
		g.d.host.Emit(trace.Event{Kind: what, Key: o.of.name, Value: o.end.Peer(), By: by, Owner: o.by})
	}
}

// emitChanges emits what a process has changed in the leases or in the data.
func (g *register) look(b *database, by *trace.Actor) {
	g.committed(b, by)
	if g.finds(b, func(l *rowregister.Held, says rowregister.Says) { g.Look(l, says, by, false) }) {
		g.Plan()
	}
}

// forEachLease calls f with each lease and the state of its row in a database. It returns
// false if the database has no leases or cannot be read.
func (g *register) finds(b *database, found func(*rowregister.Held, rowregister.Says)) bool {
	if b.name != leasesIn {
		return false
	}
	rows, err := readLeases(b.cached)
	if err != nil {
		g.d.host.Doubt("nobody can say who has the locks: " + err.Error())
		return false
	}
	for _, l := range g.Leases {
		var says rowregister.Says
		for _, r := range rows {
			if locks.SQLiteRow(r.name) == l.Key {
				// Others may take the row when the time is later than the one in the row.
				says = rowregister.Says{Held: r.holder != "", Holder: r.holder, Ends: time.UnixMilli(r.until + 1)}
			}
		}
		found(l, says)
	}
	return true
}

// emitLost emits what a crash has undone.
func (g *register) restarted() {
	for _, b := range g.d.databases {
		g.reverted(b)
		g.finds(b, g.Revert)
	}
	g.ClockChanged()
}
