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

// A register knows the world's locks on this server and emits their events. A lease row is a row
// whose columns say who holds a lock, and until when. Its events are emitted when the row is
// committed. Those of locked rows and advisory locks are emitted immediately.
type register struct {
	s *server
	// The embedded Register keeps the states of the lease rows. leases are the world's locks that
	// can be lease rows. keys are the keys of all the world's locks on the server. Both are in the
	// order in which the world lists its locks. granted has the grant event of each row lock or
	// advisory lock that is held, by the lock's key.
	*rowregister.Register
	leases       []lease
	keys         []string
	granted      map[string]*trace.Event
	rowLockCount int // the number of row locks granted so far, by which the trace names them
}

// A lease is what the register knows of one lease row: its table, and the value of the
// table's key in the row.
type lease struct {
	*rowregister.Lease
	table, row string
	// holderColumns and endColumns are the possible names of the columns with the holder
	// and with the end of the lease.
	holderColumns, endColumns []string
	mayBeRowLock              bool // instead of a lease, the lock may be the row itself while a transaction has locked it
}

func newRegister(s *server, keys []string) *register {
	g := &register{s: s, Register: rowregister.NewRegister(s.host, s.host.Names().Value), granted: map[string]*trace.Event{}}
	for _, key := range keys {
		if l, ok := parseLease(key); ok {
			g.leases = append(g.leases, l)
			g.Leases = append(g.Leases, l.Lease)
		}
		g.keys = append(g.keys, key)
	}
	return g
}

// parseLease returns the lease that a lock's key names, in the form of [locks.PostgresRow]
// or [locks.PostgresLease]. It returns false for an advisory lock.
func parseLease(key string) (lease, bool) {
	table, row, ok := strings.Cut(key, "/")
	l := lease{Lease: &rowregister.Lease{Key: key}, table: table, row: row, holderColumns: locks.HolderColumns, endColumns: locks.EndColumns}
	if l.mayBeRowLock = key != locks.PostgresRow(row); l.mayBeRowLock {
		l.holderColumns, l.endColumns = l.holderColumns[:2], l.endColumns[:2]
	}
	if tableName, columns, ok := strings.Cut(strings.TrimSuffix(table, ")"), "("); ok {
		holder, end, _ := strings.Cut(columns, ",")
		l.table, l.holderColumns, l.endColumns, l.mayBeRowLock = tableName, []string{holder}, []string{end}, false
	}
	return l, ok && table != "advisory"
}

// clientExpiryColumn is the column with the end of a lease that the server does not expire.
// A client takes such a lease over when the lease has ended by the client's own wall clock.
const clientExpiryColumn = "client_expires_at"

// leaseVersionColumn is the column with the version of a lease. The holder changes the version
// again and again, and a client takes the lease over when the version has not changed for some
// time.
const leaseVersionColumn = "record_version_number"

// columns returns the numbers of a table's columns with the holder and with the end of the
// lease. A number is -1 if the table has no such column.
func (l *lease) columns(t *table) (holder, end int) {
	return t.firstColumn(l.holderColumns), t.firstColumn(l.endColumns)
}

// lockKey returns the key of the world's lock that a transaction holds when it locks the
// row. The key is "" if the row is none of the world's locks, or is a lease.
func (g *register) lockKey(r *row) string {
	for _, l := range g.leases {
		if l.table != r.table.name || len(r.versions) == 0 || !l.matches(r.versions[len(r.versions)-1]) {
			continue
		}
		if holder, _ := l.columns(r.table); holder < 0 {
			return l.Key
		}
	}
	return ""
}

// firstColumn returns the number of the first of these columns that the table has; -1 if it
// has none of them.
func (t *table) firstColumn(names []string) int {
	for _, name := range names {
		if i := t.columnNumber(name); i >= 0 {
			return i
		}
	}
	return -1
}

// matches reports whether a version belongs to the lease's row. In that row, a key of one column, a
// text or a number, has the value that the lock's own key names.
func (l *lease) matches(v *version) bool {
	return slices.ContainsFunc(v.row.table.keys, func(k key) bool {
		value := v.values[k.columns[0]]
		return len(k.columns) == 1 && value != nil && formatValue(value) == l.row
	})
}

// emitRowLock emits that a session's transaction has locked a row, if the row is one of the
// world's locks.
func (g *register) emitRowLock(b *backend, r *row) {
	if key := g.lockKey(r); key != "" {
		g.rowLockCount++
		g.emitGrant(b, key, g.s.host.Names().Name("transaction", fmt.Sprint(g.s.host.Node().Name, " ", g.rowLockCount)), nil)
	}
}

// emitAdvisoryGrant emits that a session has acquired an advisory lock. Behind a pooler the
// session may hold it already for another client. Then the server grants the lock to both
// clients. The event looks as if the new client had overwritten the grant of the previous
// one.
func (g *register) emitAdvisoryGrant(b *backend, a advisoryLock, previous *trace.Actor) {
	key := a.key()
	if !slices.Contains(g.keys, key) || g.granted[key] != nil && sameAcquisition(previous, b.actor()) {
		return
	}
	g.emitGrant(b, key, g.s.host.Names().Name("session", fmt.Sprint(g.s.host.Node().Name, " ", b.pid)), previous)
}

// emitAdvisoryHandover emits that the client with the latest claim on an advisory lock has
// given its claim up. The lock now belongs to owner, who has the latest claim that is left.
func (g *register) emitAdvisoryHandover(b *backend, a advisoryLock, owner *trace.Actor) {
	key := a.key()
	grant := g.granted[key]
	if grant == nil {
		return
	}
	g.emitRelease(b, key)
	restored := trace.Event{Kind: trace.KindRestore, Key: key, Value: grant.Value, By: b.actor(), Owner: owner}
	g.granted[key] = &restored
	g.s.host.Emit(restored)
}

// emitGrant emits that the session's client holds the lock with this key. previous is the
// acquisition that held it until now, or nil.
func (g *register) emitGrant(b *backend, key, value string, previous *trace.Actor) {
	ev := trace.Event{Kind: trace.KindSet, Key: key, Value: value, By: b.actor(), Owner: b.actor(), Prior: previous}
	g.granted[key] = &ev
	g.s.host.Emit(ev)
}

// emitRelease emits that the session no longer holds the lock with this key. It does nothing if
// no grant of the lock was emitted.
func (g *register) emitRelease(b *backend, key string) {
	grant := g.granted[key]
	if grant == nil {
		return
	}
	delete(g.granted, key)
	ev := trace.Event{Kind: trace.KindDelete, Key: key, Value: grant.Value, By: b.actor(), Owner: grant.Owner}
	if b.connectionLost && !b.isRevoked { // the connection has ended, and no command has released the lock
		ev.Kind, ev.By = trace.KindDrop, nil
	}
	g.s.host.Emit(ev)
}

// emitLeaseChanges emits what has changed in the leases. owner returns the acquisition that
// changed the lease with this key. If copied is true, the change was replicated to this
// standby. Then owner returns the acquisition that owns the lease.
func (g *register) emitLeaseChanges(owner func(key string) *trace.Actor, copied bool) {
	for _, l := range g.leases {
		by, v := owner(l.Key), g.committedRow(&l)
		g.doubtIfUnknownLease(&l, v)
		g.Update(l.Lease, g.readLease(&l, v), by, copied)
	}
	g.ScheduleExpiry()
}

// readLease returns the state of a lease as a version of its row shows it. A nil version
// means that the row does not exist.
func (g *register) readLease(l *lease, v *version) (state rowregister.RowState) {
	if v == nil {
		return state
	}
	t := v.row.table
	holderColumn, endColumn := l.columns(t)
	if holderColumn < 0 {
		return state
	}
	state.IsHeld, state.Holder = v.values[holderColumn] != nil, formatValue(v.values[holderColumn])
	if endColumn >= 0 {
		if end := parseEnd(v.values[endColumn]); end != plusInfinity {
			state.Ends = end.time()
		}
	}
	if column := t.columnNumber(leaseVersionColumn); column >= 0 {
		version := v.values[column]
		if state.IsHeld = state.IsHeld && version != nil; state.IsHeld {
			state.Version = formatValue(version)
		}
	}
	if column := t.columnNumber(clientExpiryColumn); column >= 0 {
		clientEnd, _ := v.values[column].(timestamp)
		if state.IsHeld = state.IsHeld && clientEnd != minusInfinity; clientEnd != plusInfinity {
			state.ClientEnds = clientEnd.time()
		}
	}
	return state
}

// parseEnd returns the end of a lease that a column shows. The value is a timestamp, or a
// number since 1970. A number's size decides whether it counts seconds, milliseconds,
// microseconds or nanoseconds.
func parseEnd(v value) timestamp {
	switch v := v.(type) {
	case timestamp:
		return v
	case float64:
		return parseEnd(int64(v))
	case int64:
		const secondsLimit = 1e11 // 3,000 years in seconds
		switch {
		case v < secondsLimit:
			return timestampOf(time.Unix(v, 0))
		case v < secondsLimit*1e3:
			return timestampOf(time.UnixMilli(v))
		case v < secondsLimit*1e6:
			return timestampOf(time.UnixMicro(v))
		}
		return timestampOf(time.Unix(0, v))
	}
	return 0
}

// committedRow returns the committed version of a lease's row, or nil.
func (g *register) committedRow(l *lease) *version {
	t := g.s.tables[l.table]
	if t == nil {
		return nil
	}
	for _, v := range t.visibleVersions(nil, g.s.commitCount) {
		if l.matches(v) {
			return v
		}
	}
	return nil
}

// doubtIfUnknownLease makes the run inconclusive if a row looks like a lease but is not
// recognised as one. Such a row has a time in the future, but no column with a known name
// for the holder or for the end. Then the simulator cannot see who holds the lock.
func (g *register) doubtIfUnknownLease(l *lease, v *version) {
	if v == nil {
		return
	}
	t := v.row.table
	holderColumn, endColumn := l.columns(t)
	missing := ""
	switch {
	case endColumn >= 0 && !isTime(t.columns[endColumn].typ) && !isNumber(t.columns[endColumn].typ):
		missing = "its column " + t.columns[endColumn].name + " is neither a timestamp nor a number, so it is unknown when the lease ends"
	case holderColumn >= 0 && endColumn >= 0, !slices.ContainsFunc(v.values, func(v value) bool {
		moment, is := v.(timestamp)
		return is && moment > g.s.now() && moment != plusInfinity
	}):
		return
	case holderColumn < 0 && l.mayBeRowLock:
		return
	case holderColumn < 0:
		missing = "no column names its holder: none of its columns is called " + strings.Join(l.holderColumns, ", ")
	case t.columnNumber(clientExpiryColumn) >= 0:
		return
	default:
		missing = "no column contains its end: none of its columns is called " + strings.Join(l.endColumns, ", ")
	}
	g.s.host.Doubt(fmt.Sprintf("the row %s of the table %s looks like a lease, but %s; name its columns with a locks.PostgresLease", l.row, l.table, missing))
}

// emitLost emits which locks a crash of the server has ended.
func (g *register) emitLost() {
	for _, key := range g.keys {
		if grant := g.granted[key]; grant != nil {
			delete(g.granted, key)
			g.s.host.Emit(trace.Event{Kind: trace.KindForget, Key: key, Value: grant.Value, Owner: grant.Owner})
		}
	}
	g.Expire()
}
