package postgres

import (
	"maps"
	"slices"

	"github.com/locksim/locksim/trace"
)

// A tx is a transaction.
type tx struct {
	b     *backend
	state txState
	// number counts the commits: that of this one.
	number uint64
	// xid is its ID, which it has once it has written or locked something; 0 is none.
	xid uint32
	// began is when it began, by the server's clock: now().
	began stamp
	// undo takes back what it has done, the last first, and flushed is what is on the disk
	// with its commit.
	undo, flushed []func()
	tables        []*table // that it has changed
	rows          []*row   // that it has locked
	made          []*version
	defines       bool // it has changed what tables there are
	// durable: it is on the disk, as that record of the log.
	durable bool
	record  int
	// settings are those that it has changed, as they were: until a commit, or for SET
	// LOCAL until its end.
	changed, local map[string]string
}

// begins begins a transaction, unless there is one.
func (b *backend) begins() {
	if b.tx == nil {
		b.tx = &tx{b: b, began: b.asked, changed: map[string]string{}, local: map[string]string{}}
	}
}

type txState uint8

const (
	running txState = iota
	committed
	aborted
)

// firstXID is the ID of the first transaction of a new database: initdb has used up those before.
const firstXID = 735

// id gives the transaction its ID.
func (t *tx) id() uint32 {
	if t.xid == 0 {
		t.b.s.xid++
		t.xid = t.b.s.xid
	}
	return t.xid
}

// touched remembers that it has changed a table.
func (t *tx) touched(one *table) {
	if !slices.Contains(t.tables, one) {
		t.tables = append(t.tables, one)
	}
}

// lock gives it a row.
func (t *tx) lock(r *row) {
	if r.locker == t {
		return
	}
	r.locker = t
	t.rows = append(t.rows, r)
	t.b.s.register.rowLocked(t.b, r)
}

// others is the transaction of somebody else's that has the row; nil if there is none.
func (r *row) others(mine *tx) *tx {
	if t := r.locker; t != nil && t != mine && t.state == running {
		return t
	}
	return nil
}

// wrote says whether there is anything of it to be put on the disk.
func (t *tx) wrote() bool { return len(t.undo)+len(t.rows)+len(t.flushed) > 0 }

// commits commits the session's transaction. If a standby has to have it first, the session waits:
// nobody sees it, and what it has locked stays so.
func (b *backend) commits() {
	t := b.tx
	if t.wrote() {
		b.s.writes(t)
		if !b.s.confirmed(t) {
			r := &run{b: b, tx: t, commits: true}
			b.running = r
			r.waits(&wait{ready: func() bool { return r.enough || b.s.confirmed(t) }})
			b.running = nil
		}
	}
	t.commit()
}

// commit makes all that the transaction has done true.
func (t *tx) commit() {
	s := t.b.s
	s.commits++
	t.state, t.number = committed, s.commits
	maps.Copy(t.b.settings, t.local)
	for _, v := range t.made {
		s.register.stored(t.b, v)
		v.before = nil
	}
	t.end()
	if len(s.waiting) == 0 {
		for _, one := range t.tables {
			one.tidy()
		}
	}
	by := t.b.by()
	s.register.look(func(string) *trace.Actor { return by }, false)
}

// abort takes all of it back.
func (t *tx) abort() {
	t.takeBack()
	maps.Copy(t.b.settings, t.changed)
	maps.Copy(t.b.settings, t.local)
	t.end()
}

// takeBack takes back what it has done to the data.
func (t *tx) takeBack() {
	t.state = aborted
	for _, f := range slices.Backward(t.undo) {
		f()
	}
}

// end frees what it has locked, and whoever waits for that goes on.
func (t *tx) end() {
	t.b.tx = nil
	for _, r := range t.rows {
		t.b.s.register.frees(t.b, t.b.s.register.keyOf(r))
	}
	t.b.s.advisory.ended(t)
}
