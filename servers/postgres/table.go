package postgres

import (
	"slices"

	"github.com/locksim/locksim/servers/postgres/internal/sql"
)

// A table is a table of the database, or a view of the server's own state. Its rows are in
// the order in which they were inserted.
type table struct {
	name       string
	columns    []column
	keys       []key
	indexes    []string // the names of the indexes that are not unique
	rows       []*row
	dropped    bool
	tupleCount int   // the number of row versions created so far
	view       *view // nil for a real table
}

// A column is a column of a table.
type column struct {
	name         string
	typ          sql.Type
	size         int // as in [sql.Column]
	notNull      bool
	defaultValue *node // the DEFAULT; nil if there is none
}

// A key is a primary or unique key of a table: its name, and the numbers of its columns,
// from 0.
type key struct {
	name    string
	columns []int
}

// A row holds all its versions, the latest last. An update adds a version. Other
// transactions see a version only when the transaction that made it has committed.
type row struct {
	table    *table
	versions []*version
	// locker is the transaction that locked the row last; it may have ended.
	locker *tx
}

// A version is the state of a row between two changes.
type version struct {
	row    *row
	values []value
	// createdBy is the transaction that made the version. endedBy updated or deleted it, or
	// is nil.
	createdBy, endedBy *tx
	// xmin is the ID of createdBy. xmax is the ID of the last transaction that updated,
	// deleted or locked the version, committed or not; 0 means none.
	xmin, xmax uint32
	ctid       tupleID // the place of the version in the table
	// next is the version that an update made of this one. previous is the version of which
	// an update made this one. Either field can be nil.
	next, previous *version
}

// columnNumber returns the number of the column with a name; -1 if there is none.
func (t *table) numberOf(name string) int {
	return slices.IndexFunc(t.columns, func(c column) bool { return c.name == name })
}

// isVisible reports whether the transaction reader sees the version in a snapshot. The
// snapshot contains the commits up to the number snapshot.
func (v *version) isVisible(reader *tx, snapshot uint64) bool {
	return v.createdBy.isSeenBy(reader, snapshot) && !(v.endedBy != nil && v.endedBy.isSeenBy(reader, snapshot))
}

// isSeenBy reports whether the transaction reader sees in a snapshot what t did. The
// snapshot contains the commits up to the number snapshot.
func (t *tx) isSeenBy(reader *tx, snapshot uint64) bool {
	return t == reader || t.state == committed && t.commitNumber <= snapshot
}

// visibleVersions returns the versions that a statement of reader sees in a snapshot, in
// the order of the table.
func (t *table) visible(reader *tx, snapshot uint64) []*version {
	var all []*version
	for _, r := range t.rows {
		for _, v := range slices.Backward(r.versions) {
			if v.isVisible(reader, snapshot) {
				all = append(all, v)
				break
			}
		}
	}
	return all
}

// findConflict returns the version of a row other than self whose key k equals values, or
// nil. It ignores versions that reader or a committed transaction has ended. So the version
// may depend on another transaction that is open. If that transaction created it, it exists
// only if the transaction commits. If that transaction ended it, it remains only if the
// transaction aborts. NULL never equals NULL.
func (t *table) findConflict(k key, values []value, reader *tx, self *row) *version {
	differs := func(v *version) bool {
		return slices.ContainsFunc(k.columns, func(i int) bool {
			return values[i] == nil || v.values[i] == nil || compare(values[i], v.values[i]) != 0
		})
	}
	for _, r := range t.rows {
		for _, v := range slices.Backward(r.versions) {
			gone := v.endedBy != nil && (v.endedBy == reader || v.endedBy.state == committed)
			if r != self && !gone && !differs(v) {
				return v
			}
		}
	}
	return nil
}

// vacuum removes versions that no snapshot can see any more. It must be called only while
// no statement waits, because a waiting statement has an old snapshot.
func (t *table) vacuum() {
	t.rows = slices.DeleteFunc(t.rows, func(r *row) bool {
		r.versions = slices.DeleteFunc(r.versions, func(v *version) bool { return v.endedBy != nil && v.endedBy.state == committed })
		return len(r.versions) == 0
	})
}

// nextTupleID returns the place of the table's next row version. Every page holds 226
// versions, however long they are. No page of PostgreSQL holds more. The place of a removed
// version stays unused, while a real server uses it again at some time.
func (t *table) nextTupleID() tupleID {
	const most = 226
	t.tupleCount++
	return tupleID{uint32((t.tupleCount - 1) / most), uint16((t.tupleCount-1)%most + 1)}
}

// insert adds a row.
func (t *table) insert(by *tx, values []value) *version {
	r := &row{table: t}
	v := &version{row: r, values: values, createdBy: by, xmin: by.id(), ctid: t.nextTupleID()}
	r.versions = []*version{v}
	t.rows = append(t.rows, r)
	by.addTable(t)
	by.versions = append(by.versions, v)
	by.undo = append(by.undo, func() { t.rows = slices.DeleteFunc(t.rows, func(o *row) bool { return o == r }) })
	return v
}

// update ends the version and makes a new one. The transaction must have locked the row.
func (v *version) update(by *tx, values []value) *version {
	n := &version{row: v.row, values: values, createdBy: by, previous: v, xmin: by.id(), ctid: v.row.table.nextTupleID()}
	if v.xmax == by.xid { // heap_update of PostgreSQL: the transaction had locked the row before, and keeps the lock
		n.xmax = v.xmax
	}
	v.delete(by)
	by.versions = append(by.versions, n)
	v.next = n
	v.row.versions = append(v.row.versions, n)
	by.undo = append(by.undo, func() {
		v.next = nil
		v.row.versions = slices.DeleteFunc(v.row.versions, func(o *version) bool { return o == n })
	})
	return n
}

// delete ends the version without making a new one. The transaction must have locked the
// row.
func (v *version) delete(by *tx) {
	v.endedBy, v.xmax = by, by.id()
	by.addTable(v.row.table)
	by.undo = append(by.undo, func() { v.endedBy = nil })
}

// A sequence gives out the numbers 1, 2, 3 and so on. Like PostgreSQL's, it is never rolled
// back, and it logs numbers before it gives them out. After a crash it continues after the
// last logged number on the disk.
type sequence struct {
	name    string
	last    int64 // 0 before the first number
	logged  int64 // the last number that the log covers, perhaps only in memory
	durable int64 // the last number that the log on the disk covers
}

// logAhead is how many numbers are logged at a time: SEQ_LOG_VALS of PostgreSQL's
// sequence.c.
const logAhead = 32

// next returns the next number of the sequence. It is logged by the transaction by which it
// is asked for.
func (q *sequence) next(by *tx) int64 {
	q.last++
	if q.last > q.logged {
		q.logged = q.last + logAhead
		logged := q.logged
		by.onDurable = append(by.onDurable, func() { q.durable = max(q.durable, logged) })
	}
	return q.last
}

// crash resets the sequence to what is on the disk.
func (q *sequence) crash() {
	q.last, q.logged = q.durable, q.durable
}
