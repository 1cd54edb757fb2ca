package postgres

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A register tells the world what becomes of the locks: of rows that are leases when it is
// committed, of rows that are locked and of advisory locks at once.
type register struct {
	s *server
	// leases and others are the keys of the world's locks, in its order; taken are those
	// of others that are taken, by whom.
	leases []lease
	others []string
	taken  map[string]*trace.Event
	ends   *sim.Alarm // of the next that ends
	serial int        // of transactions that have locked a row
}

// A lease is what is known of a row that is one.
type lease struct {
	key        string
	table, row string
	// holders and ends are what the columns may be called that say who has it, and until when.
	holders, ends []string
	any           bool // it may as well be a row that a transaction locks
	stands        bool
	holder        string
	until         stamp
	judged        stamp // until when it lasts by the clocks of clients; never is that those have no say
	owner         *trace.Actor
}

func newRegister(s *server, keys []string) *register {
	g := &register{s: s, taken: map[string]*trace.Event{}}
	g.ends = s.host.Alarm(g.expires)
	for _, key := range keys {
		if l, ok := leaseOf(key); ok {
			g.leases = append(g.leases, l)
		}
		g.others = append(g.others, key)
	}
	return g
}

// leaseOf is the lease that a key of a lock is, as [locks.PostgresRow] and [locks.PostgresLease] make
// them; false if it is an advisory lock.
func leaseOf(key string) (lease, bool) {
	table, row, ok := strings.Cut(key, "/")
	l := lease{key: key, table: table, row: row, holders: locks.HolderColumns, ends: locks.EndColumns}
	if l.any = key != locks.PostgresRow(row); l.any {
		l.holders, l.ends = l.holders[:2], l.ends[:2]
	}
	if named, columns, ok := strings.Cut(strings.TrimSuffix(table, ")"), "("); ok {
		holder, end, _ := strings.Cut(columns, ",")
		l.table, l.holders, l.ends, l.any = named, []string{holder}, []string{end}, false
	}
	return l, ok && table != "advisory"
}

// judgedColumn has the end of one whose row the server leaves as it is: a client that takes it
// over judges that its time is up, by its own time of day.
const judgedColumn = "client_expires_at"

// columns are those that say who has the lease, and until when; -1 is none.
func (l *lease) columns(t *table) (who, until int) { return t.one(l.holders), t.one(l.ends) }

// keyOf is the key of the lock that whoever locks a row has; "" if it is none, or a lease.
func (g *register) keyOf(r *row) string {
	for _, l := range g.leases {
		if l.table != r.of.name || len(r.versions) == 0 || !l.is(r.versions[len(r.versions)-1]) {
			continue
		}
		if who, _ := l.columns(r.of); who < 0 {
			return l.key
		}
	}
	return ""
}

// one finds the first of some columns that there is; -1 is none.
func (t *table) one(names []string) int {
	for _, name := range names {
		if i := t.numberOf(name); i >= 0 {
			return i
		}
	}
	return -1
}

// is says whether a key of one column, a text or a number, has a row be that of the lease.
func (l *lease) is(v *version) bool {
	return slices.ContainsFunc(v.row.of.keys, func(k key) bool {
		value := v.values[k.columns[0]]
		return len(k.columns) == 1 && value != nil && write(value) == l.row
	})
}

// rowLocked tells that a session's transaction has locked a row, and rowsFreed that it has
// ended.
func (g *register) rowLocked(b *backend, r *row) {
	if key := g.keyOf(r); key != "" {
		g.serial++
		g.takes(b, key, g.s.host.Names().Name("transaction", fmt.Sprint(g.s.host.Node().Name, " ", g.serial)), nil)
	}
}

// advisoryTaken tells that a session has an advisory lock, or has it once more. Whoever asked for it
// before is told the same, and nobody has it twice for that: it is as if the later one had
// overwritten the other's.
func (g *register) advisoryTaken(b *backend, a advisory, was *trace.Actor) {
	key := a.key()
	if !slices.Contains(g.others, key) || g.taken[key] != nil && same(was, b.by()) {
		return
	}
	g.takes(b, key, g.s.host.Names().Name("session", fmt.Sprint(g.s.host.Node().Name, " ", b.pid)), was)
}

// advisoryLeft tells that the one has given its claim up for whom the lock stood, and for whom it
// stands now.
func (g *register) advisoryLeft(b *backend, a advisory, now *trace.Actor) {
	key := a.key()
	was := g.taken[key]
	if was == nil {
		return
	}
	g.frees(b, key)
	back := trace.Event{Kind: trace.KindRestore, Key: key, Value: was.Value, By: b.by(), Owner: now}
	g.taken[key] = &back
	g.s.host.Emit(back)
}

func (g *register) takes(b *backend, key, value string, from *trace.Actor) {
	ev := trace.Event{Kind: trace.KindSet, Key: key, Value: value, By: b.by(), Owner: b.by(), Prior: from}
	g.taken[key] = &ev
	g.s.host.Emit(ev)
}

func (g *register) frees(b *backend, key string) {
	was := g.taken[key]
	if was == nil {
		return
	}
	delete(g.taken, key)
	ev := trace.Event{Kind: trace.KindDelete, Key: key, Value: was.Value, By: b.by(), Owner: was.Owner}
	if b.lost && !b.revoked { // which is nobody's command
		ev.Kind, ev.By = trace.KindDrop, nil
	}
	g.s.host.Emit(ev)
}

// look tells what has become of the leases, by whose commit, or on a standby whose is one that is
// new.
func (g *register) look(whose func(key string) *trace.Actor, copied bool) {
	for i := range g.leases {
		g.leases[i].look(g, whose, copied)
	}
	g.plan()
}

func (l *lease) look(g *register, whose func(key string) *trace.Actor, copied bool) {
	was, by, v := *l, whose(l.key), g.row(l)
	l.stands, l.holder, l.until, l.judged = g.read(l, v)
	g.doubts(l, v)
	ev := trace.Event{Kind: trace.KindSet, Key: l.key, By: by}
	switch {
	case !l.stands && !was.stands:
		return
	case !l.stands:
		ev.Kind, ev.Value, ev.Owner = trace.KindDelete, g.s.host.Names().Value(was.holder), was.owner
		if copied {
			ev.By = nil
		}
		g.s.host.Emit(ev)
		return
	case was.stands && was.holder == l.holder && was.until == l.until && was.judged == l.judged:
		return
	case was.stands && was.holder == l.holder:
		ev.Kind = trace.KindTouch
	default:
		if was.stands && was.judged != never && !copied {
			g.s.host.Emit(trace.Event{Kind: trace.KindExpire, Key: l.key, Value: g.s.host.Names().Value(was.holder), By: by, Owner: was.owner})
			was.stands = false
		}
		l.owner = by
		if was.stands {
			ev.Prior = was.owner
		}
	}
	if copied {
		ev = trace.Event{Kind: trace.KindRestore, Key: l.key}
	}
	g.s.host.Emit(g.standing(l, ev))
}

// read is who stands in the row of a lease, and until when, by the server's clock and by those of
// clients; it does not stand if nobody does, or if its time is up.
func (g *register) read(l *lease, v *version) (stands bool, holder string, until, judged stamp) {
	if v == nil {
		return false, "", 0, 0
	}
	t := v.row.of
	who, ends := l.columns(t)
	if who < 0 {
		return false, "", 0, 0
	}
	until = never
	if ends >= 0 {
		until = endOf(v.values[ends])
	}
	judged = never
	if by := t.numberOf(judgedColumn); by >= 0 {
		judged, _ = v.values[by].(stamp)
	}
	return v.values[who] != nil && until > g.s.now() && judged != forever, write(v.values[who]), until, judged
}

// endOf is the end that a column says: a time, or a number since 1970, of the unit with which
// it is in our age.
func endOf(v value) stamp {
	switch v := v.(type) {
	case stamp:
		return v
	case float64:
		return endOf(int64(v))
	case int64:
		const age = 1e11 // in seconds, which are 3,000 years
		switch {
		case v < age:
			return stampOf(time.Unix(v, 0))
		case v < age*1e3:
			return stampOf(time.UnixMilli(v))
		case v < age*1e6:
			return stampOf(time.UnixMicro(v))
		}
		return stampOf(time.Unix(0, v))
	}
	return 0
}

// row is what is committed of the row of a lease; nil is none.
func (g *register) row(l *lease) *version {
	t := g.s.tables[l.table]
	if t == nil {
		return nil
	}
	for _, v := range t.visible(nil, g.s.commits) {
		if l.is(v) {
			return v
		}
	}
	return nil
}

// doubts says that a row looks like a lease and is not told as one: it has a time that is to come,
// and nothing says by its name who has it, or that this is its end. A run in which nobody knows who
// has the lock proves nothing.
func (g *register) doubts(l *lease, v *version) {
	if v == nil {
		return
	}
	t := v.row.of
	who, ends := l.columns(t)
	missing := ""
	switch {
	case ends >= 0 && !isTime(t.columns[ends].typ) && !isNumber(t.columns[ends].typ):
		missing = "its column " + t.columns[ends].name + " is neither a timestamp nor a number, so that nobody knows when it ends"
	case who >= 0 && ends >= 0, !slices.ContainsFunc(v.values, func(v value) bool { at, is := v.(stamp); return is && at > g.s.now() && at != never }):
		return
	case who < 0 && l.any:
		return
	case who < 0:
		missing = "nothing says who has it: none of its columns is called " + strings.Join(l.holders, ", ")
	case t.numberOf(judgedColumn) >= 0:
		return
	default:
		missing = "nothing says when it ends: none of its columns is called " + strings.Join(l.ends, ", ")
	}
	g.s.host.Doubt(fmt.Sprintf("the row %s of the table %s looks like a lease, but %s; say what its columns are called, by locks.PostgresLease", l.row, l.table, missing))
}

// expires tells whose time is up, and plans the next look.
func (g *register) expires() {
	for i := range g.leases {
		l := &g.leases[i]
		if l.stands && l.until <= g.s.now() {
			l.stands = false
			g.s.host.Emit(trace.Event{Kind: trace.KindExpire, Key: l.key, Value: g.s.host.Names().Value(l.holder), Owner: l.owner})
		}
	}
	g.plan()
}

func (g *register) plan() {
	first := never
	for _, l := range g.leases {
		if l.stands {
			first = min(first, l.until)
		}
	}
	end := time.Time{}
	if first != never {
		end = first.time()
	}
	g.ends.Set(end)
}

// clockChanged tells what the clock says now: whose time is up, and of whose it is not any more,
// as the row is still there.
func (g *register) clockChanged() {
	g.expires()
	for i := range g.leases {
		l := &g.leases[i]
		stands, holder, until, _ := g.read(l, g.row(l))
		if stands && !l.stands && holder == l.holder && until == l.until {
			l.stands = true
			g.s.host.Emit(g.standing(l, trace.Event{Kind: trace.KindRestore, Key: l.key}))
		}
	}
	g.plan()
}

// standing is an event with what it says of a lease that stands.
func (g *register) standing(l *lease, ev trace.Event) trace.Event {
	ev.Value, ev.Owner = g.s.host.Names().Value(l.holder), l.owner
	if l.until != never {
		ev.TTL = max(l.until.time().Sub(g.s.host.Clock().Now()), 1)
		ev.Expires, _ = g.s.host.When(l.until.time())
	}
	if l.judged != never && ev.Kind != trace.KindRestore {
		ev.Ends = &fakeclock.Reading{Clock: fakeclock.Wall, Nanos: l.judged.time().UnixNano()}
	}
	return ev
}

// restarted tells what a crash has taken.
func (g *register) restarted() {
	for _, key := range g.others {
		if was := g.taken[key]; was != nil {
			delete(g.taken, key)
			g.s.host.Emit(trace.Event{Kind: trace.KindForget, Key: key, Value: was.Value, Owner: was.Owner})
		}
	}
	g.expires()
}
