package sqlite

import (
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A register tells the world what becomes of the locks: of rows that are leases when they are
// committed, and of files that somebody has reserved.
type register struct {
	d      *disk
	leases []*lease
	files  []string
	data   data
	ends   *sim.Alarm // of the next that ends
}

// A lease is what is known of a row that is one.
type lease struct {
	key    string
	row    row
	stands bool
	owner  *trace.Actor
}

// leasesIn is the database in which rows are leases.
const leasesIn = "locks.db"

func newRegister(d *disk, keys []string) *register {
	g := &register{d: d, data: data{}}
	g.ends = d.host.Alarm(g.expires)
	for _, key := range keys {
		g.leases = append(g.leases, &lease{key: key})
		g.files = append(g.files, key)
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

// finds has the leases be what the rows of a database say, and reports whether it is theirs and
// says something.
func (g *register) finds(b *database) bool {
	if b.name != leasesIn {
		return false
	}
	rows, err := readLeases(b.cached)
	if err != nil {
		g.d.host.Doubt("nobody can say who has the locks: " + err.Error())
		return false
	}
	for _, l := range g.leases {
		l.row = row{}
		for _, r := range rows {
			if locks.SQLiteRow(r.name) == l.key {
				l.row = r
			}
		}
	}
	return true
}

// look tells what somebody has made of the leases, or of the data.
func (g *register) look(b *database, by *trace.Actor) {
	g.committed(b, by)
	before := g.leasesNow()
	if !g.finds(b) {
		return
	}
	for i, l := range g.leases {
		l.look(g, before[i], by)
	}
	g.plan()
}

func (g *register) leasesNow() []lease {
	all := make([]lease, len(g.leases))
	for i, l := range g.leases {
		all[i] = *l
	}
	return all
}

func (l *lease) look(g *register, was lease, by *trace.Actor) {
	l.stands = l.row.holder != "" && !g.over(l)
	ev := trace.Event{Kind: trace.KindSet, Key: l.key, By: by}
	switch {
	case !l.stands && !was.stands:
		return
	case !l.stands:
		ev.Kind, ev.Value, ev.Owner = trace.KindDelete, was.row.holder, was.owner
		g.d.host.Emit(ev)
		return
	case was.stands && was.row == l.row:
		return
	case was.stands && was.row.holder == l.row.holder:
		ev.Kind = trace.KindTouch
	default:
		l.owner = by
		if was.stands {
			ev.Prior = was.owner
		}
	}
	g.d.host.Emit(g.standing(l, ev))
}

// over says whether others may take the row, by what it says and by the machine's clock.
func (g *register) over(l *lease) bool { return l.row.until < g.d.host.Clock().Now().UnixMilli() }

// ends is when that begins.
func (l *lease) ends() time.Time { return time.UnixMilli(l.row.until + 1) }

// expires tells whose time is up.
func (g *register) expires() {
	for _, l := range g.leases {
		if l.stands && g.over(l) {
			l.stands = false
			g.d.host.Emit(trace.Event{Kind: trace.KindExpire, Key: l.key, Value: l.row.holder, Owner: l.owner})
		}
	}
	g.plan()
}

func (g *register) plan() {
	var first time.Time
	for _, l := range g.leases {
		if l.stands && (first.IsZero() || l.ends().Before(first)) {
			first = l.ends()
		}
	}
	g.ends.Set(first)
}

// clockChanged tells what the clock says now: whose time is up, and of whose it is not any more,
// as the row is still there.
func (g *register) clockChanged() {
	g.expires()
	for _, l := range g.leases {
		if !l.stands && l.row.holder != "" && !g.over(l) {
			l.stands = true
			g.d.host.Emit(g.standing(l, trace.Event{Kind: trace.KindRestore, Key: l.key}))
		}
	}
	g.plan()
}

// standing is an event with what it says of a lease that stands.
func (g *register) standing(l *lease, ev trace.Event) trace.Event {
	ev.Value, ev.Owner = l.row.holder, l.owner
	ev.TTL = max(l.ends().Sub(g.d.host.Clock().Now()), 1)
	ev.Expires, _ = g.d.host.When(l.ends())
	return ev
}

// restarted tells what a crash has taken.
func (g *register) restarted() {
	for _, b := range g.d.databases {
		g.reverted(b)
		before := g.leasesNow()
		if !g.finds(b) {
			continue
		}
		for i, l := range g.leases {
			was := before[i]
			if l.stands = was.stands && l.row == was.row; was.stands && !l.stands {
				g.d.host.Emit(trace.Event{Kind: trace.KindForget, Key: l.key, Value: was.row.holder, Owner: was.owner})
			}
		}
	}
	g.clockChanged()
}
