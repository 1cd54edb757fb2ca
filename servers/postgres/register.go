package postgres

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/rowregister"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/trace"
)

// A register tells the world what becomes of the locks: of rows that are leases when it is
// committed, of rows that are locked and of advisory locks at once.
type register struct {
	s *server
	// leases and others are the keys of the world's locks, in its order; taken are those
	// of others that are taken, by whom.
	*rowregister.Register
	leases []lease
	others []string
	taken  map[string]*trace.Event
	serial int // of transactions that have locked a row
}

// A lease is what is known of a row that is one.
type lease struct {
	*rowregister.Held
	table, row string
	// holders and ends are what the columns may be called that say who has it, and until when.
	holders, ends []string
	any           bool // it may as well be a row that a transaction locks
}

func newRegister(s *server, keys []string) *register {
	g := &register{s: s, Register: rowregister.NewRegister(s.host, s.host.Names().Value), taken: map[string]*trace.Event{}}
	for _, key := range keys {
		if l, ok := leaseOf(key); ok {
			g.leases = append(g.leases, l)
			g.Leases = append(g.Leases, l.Held)
		}
		g.others = append(g.others, key)
	}
	return g
}

// leaseOf is the lease that a key of a lock is, as [locks.PostgresRow] and [locks.PostgresLease] make
// them; false if it is an advisory lock.
func leaseOf(key string) (lease, bool) {
	table, row, ok := strings.Cut(key, "/")
	l := lease{Held: &rowregister.Held{Key: key}, table: table, row: row, holders: locks.HolderColumns, ends: locks.EndColumns}
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
			return l.Key
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
	for _, l := range g.leases {
		by, v := whose(l.Key), g.row(&l)
		g.doubts(&l, v)
		g.Look(l.Held, g.read(&l, v), by, copied)
	}
	g.Plan()
}

// read is what a row says of its lease.
func (g *register) read(l *lease, v *version) (says rowregister.Says) {
	if v == nil {
		return says
	}
	t := v.row.of
	who, ends := l.columns(t)
	if who < 0 {
		return says
	}
	says.Held, says.Holder = v.values[who] != nil, write(v.values[who])
	if ends >= 0 {
		if until := endOf(v.values[ends]); until != never {
			says.Ends = until.time()
		}
	}
	if by := t.numberOf(judgedColumn); by >= 0 {
		judged, _ := v.values[by].(stamp)
		if says.Held = says.Held && judged != forever; judged != never {
			says.Judged = judged.time()
		}
	}
	return says
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

// restarted tells what a crash has taken.
func (g *register) restarted() {
	for _, key := range g.others {
		if was := g.taken[key]; was != nil {
			delete(g.taken, key)
			g.s.host.Emit(trace.Event{Kind: trace.KindForget, Key: key, Value: was.Value, Owner: was.Owner})
		}
	}
	g.Expire()
}
