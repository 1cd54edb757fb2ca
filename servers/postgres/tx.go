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
	// commitNumber is the transaction's place among all commits.
	number uint64
	// xid is the transaction's ID, which it gets when it first writes or locks something; 0
	// is none.
	xid uint32
	// began is when it began, by the server's clock: now().
	began stamp
	// undo reverts its changes, the last first. onDurable is called when its log record is
	// on the disk.
	undo, flushed []func()
	tables        []*table // tables that it has changed
	rows          []*row   // rows that it has locked
	made          []*version
	defines       bool // it has changed the set of tables, indexes or sequences
	// onDisk reports whether its log record, with the number recordNumber, is on the disk.
	durable bool
	record  int
	// oldSettings are the former values of settings that it has changed, restored if it
	// aborts. oldLocalSettings are those of SET LOCAL, restored when it ends.
	changed, local map[string]string
}

// beginTx begins a transaction, unless there is one.
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

// firstXID is the ID of the first transaction of a new database: initdb has used up those
// before.
const firstXID = 735

// id returns the transaction's ID, after giving it one if it has none.
func (t *tx) id() uint32 {
	if t.xid == 0 {
		t.b.s.xid++
		t.xid = t.b.s.xid
	}
	return t.xid
}

// addTable notes that the transaction has changed a table.
func (t *tx) touched(one *table) {
	if !slices.Contains(t.tables, one) {
		t.tables = append(t.tables, one)
	}
}

// lock locks a row for the transaction.
func (t *tx) lock(r *row) {
	if r.locker == t {
		return
	}
	r.locker = t
	t.rows = append(t.rows, r)
	t.b.s.register.rowLocked(t.b, r)
}

// otherLocker returns the open transaction other than reader that has locked the row, or
// nil.
func (r *row) others(mine *tx) *tx {
	if t := r.locker; t != nil && t != mine && t.state == running {
		return t
	}
	return nil
}

// hasChanges reports whether the transaction has anything to write to the disk.
func (t *tx) wrote() bool { return len(t.undo)+len(t.rows)+len(t.flushed) > 0 }

// commitTx commits the session's transaction. If a standby must confirm it first, the
// session waits: meanwhile nobody sees the changes, and the transaction's locks are held.
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

// commit makes the transaction's changes visible and emits them.
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

// abort undoes the transaction.
func (t *tx) abort() {
	t.takeBack()
	maps.Copy(t.b.settings, t.changed)
	maps.Copy(t.b.settings, t.local)
	t.end()
}

// rollback undoes the transaction's changes to the data.
func (t *tx) takeBack() {
	t.state = aborted
	for _, f := range slices.Backward(t.undo) {
		f()
	}
}

// end releases the transaction's locks, so that waiting statements can continue.
func (t *tx) end() {
	t.b.tx = nil
	for _, r := range t.rows {
		t.b.s.register.frees(t.b, t.b.s.register.keyOf(r))
	}
	t.b.s.advisory.ended(t)
}
