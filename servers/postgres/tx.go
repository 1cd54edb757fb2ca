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
	// commitNumber is the transaction's place among all commits of the server.
	commitNumber uint64
	// xid is the transaction's ID, which it gets when it first writes or locks something; 0
	// is none.
	xid uint32
	// began is when the transaction began by the server's wall clock. now() returns it.
	began timestamp
	// The funcs of undo revert the transaction's changes; the last func is called first. Those of
	// onDurable are called when the transaction's log record is on the disk.
	undo, onDurable []func()
	changedTables   []*table   // tables that it has changed
	lockedRows      []*row     // rows that it has locked
	newVersions     []*version // row versions that it has made
	isRedefining    bool       // it has changed the set of tables, indexes or sequences
	// onDisk reports whether the transaction's log record, with the number recordNumber, is
	// on the disk.
	onDisk       bool
	recordNumber int
	// oldSettings are the former values of settings that the transaction has changed. An
	// abort restores them. oldLocalSettings are those that SET LOCAL has changed. Each end
	// of the transaction restores them.
	oldSettings, oldLocalSettings map[string]string
}

// beginTx begins a transaction, unless the session has one already.
func (b *backend) beginTx() {
	if b.tx == nil {
		b.tx = &tx{b: b, began: b.receivedAt, oldSettings: map[string]string{}, oldLocalSettings: map[string]string{}}
	}
}

// txState is the state of a transaction.
type txState uint8

const (
	running txState = iota
	committed
	aborted
)

// firstXID is the ID of the first transaction of a new database. PostgreSQL's initdb, which creates
// the database, has used the lower IDs.
const firstXID = 735

// id returns the transaction's ID, after giving it one if it has none.
func (t *tx) id() uint32 {
	if t.xid == 0 {
		t.b.s.lastXID++
		t.xid = t.b.s.lastXID
	}
	return t.xid
}

// addTable records that the transaction has changed a table.
func (t *tx) addTable(changed *table) {
	if !slices.Contains(t.changedTables, changed) {
		t.changedTables = append(t.changedTables, changed)
	}
}

// lock locks a row for the transaction.
func (t *tx) lock(r *row) {
	if r.locker == t {
		return
	}
	r.locker = t
	t.lockedRows = append(t.lockedRows, r)
	t.b.s.register.emitRowLock(t.b, r)
}

// otherLocker returns the open transaction other than reader that has locked the row, or
// nil.
func (r *row) otherLocker(reader *tx) *tx {
	if t := r.locker; t != nil && t != reader && t.state == running {
		return t
	}
	return nil
}

// hasChanges reports whether the transaction has anything to write to the disk.
func (t *tx) hasChanges() bool { return len(t.undo)+len(t.lockedRows)+len(t.onDurable) > 0 }

// commitTx commits the session's transaction. If a standby must confirm the transaction
// first, the session waits. Meanwhile no other session sees the changes, and the
// transaction keeps its locks.
func (b *backend) commitTx() {
	t := b.tx
	if t.hasChanges() {
		b.s.logTx(t)
		if !b.s.isConfirmed(t) {
			r := &run{b: b, tx: t, isCommit: true}
			b.running = r
			r.waitFor(&wait{ready: func() bool { return r.waitCanceled || b.s.isConfirmed(t) }})
			b.running = nil
		}
	}
	t.commit()
}

// commit makes the transaction's changes visible and emits their events.
func (t *tx) commit() {
	s := t.b.s
	s.commitCount++
	t.state, t.commitNumber = committed, s.commitCount
	maps.Copy(t.b.settings, t.oldLocalSettings)
	for _, v := range t.newVersions {
		s.register.emitWrite(t.b, v)
		v.previous = nil
	}
	t.end()
	if len(s.waiting) == 0 {
		for _, changed := range t.changedTables {
			changed.vacuum()
		}
	}
	by := t.b.actor()
	s.register.emitLeaseChanges(func(string) *trace.Actor { return by }, false)
}

// abort undoes the transaction, with its changes to settings, and ends it.
func (t *tx) abort() {
	t.rollback()
	maps.Copy(t.b.settings, t.oldSettings)
	maps.Copy(t.b.settings, t.oldLocalSettings)
	t.end()
}

// rollback undoes the transaction's changes to the data.
func (t *tx) rollback() {
	t.state = aborted
	for _, f := range slices.Backward(t.undo) {
		f()
	}
}

// end releases the transaction's locks, so that waiting statements can continue.
func (t *tx) end() {
	t.b.tx = nil
	for _, r := range t.lockedRows {
		t.b.s.register.emitRelease(t.b, t.b.s.register.lockKey(r))
	}
	t.b.s.advisoryLocks.releaseTx(t)
}
