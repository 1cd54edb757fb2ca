package sqlite

import (
	"time"

	"github.com/locksim/locksim/internal/rowregister"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/trace"
)

// A register tells the world what becomes of the locks: of rows that are leases when they are
// committed, and of files that somebody has reserved.
type register struct {
	*rowregister.Register
	d     *disk
	files []string
	data  data
}

// leasesIn is the database in which rows are leases.
const leasesIn = "locks.db"

func newRegister(d *disk, keys []string) *register {
	g := &register{Register: rowregister.NewRegister(d.host, func(holder string) string { return holder }), d: d, files: keys, data: data{}}
	for _, key := range keys {
		g.Leases = append(g.Leases, &rowregister.Held{Key: key})
	}
	return g
}

// reserved tells that a process has reserved a file, and given that it has given it back.
func (g *register) reserved(o *opened) { g.tell(o, trace.KindSet, o.by) }

func (g *register) given(o *opened, by *trace.Actor, how trace.Kind) { g.tell(o, how, by) }

func (g *register) tell(o *opened, what trace.Kind, by *trace.Actor) {
	if g.keeps(o.of) && o.by != nil {
		g.d.host.Emit(trace.Event{Kind: what, Key: o.of.name, Value: o.end.Peer(), By: by, Owner: o.by})
	}
}

// look tells what somebody has made of the leases, or of the data.
func (g *register) look(b *database, by *trace.Actor) {
	g.committed(b, by)
	if g.finds(b, func(l *rowregister.Held, says rowregister.Says) { g.Look(l, says, by, false) }) {
		g.Plan()
	}
}

// finds looks what the rows of a database say of each lease, and reports whether they say something.
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
				// Others may take the row when the time is later than what it says.
				says = rowregister.Says{Held: r.holder != "", Holder: r.holder, Ends: time.UnixMilli(r.until + 1)}
			}
		}
		found(l, says)
	}
	return true
}

// restarted tells what a crash has taken.
func (g *register) restarted() {
	for _, b := range g.d.databases {
		g.reverted(b)
		g.finds(b, g.Revert)
	}
	g.ClockChanged()
}
