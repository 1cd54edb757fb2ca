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
	isDropped  bool
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
	// next is the version by which an update replaced this one. previous is the version that this
	// one replaced. Either field can be nil.
	next, previous *version
}

// columnNumber returns the number of the column called name; -1 if there is none.
func (t *table) columnNumber(name string) int {
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
func (t *table) visibleVersions(reader *tx, snapshot uint64) []*version {
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
			ended := v.endedBy != nil && (v.endedBy == reader || v.endedBy.state == committed)
			if r != self && !ended && !differs(v) {
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

// nextTupleID returns the place of the table's next row version. Every page holds 226 versions, the
// most that a page of PostgreSQL can hold, however long the versions are. The place of a removed
// version stays unused, while a real server uses it again at some time.
func (t *table) nextTupleID() tupleID {
	const perPage = 226
	t.tupleCount++
	return tupleID{uint32((t.tupleCount - 1) / perPage), uint16((t.tupleCount-1)%perPage + 1)}
}

// insert adds a row.
func (t *table) insert(writer *tx, values []value) *version {
	r := &row{table: t}
	v := &version{row: r, values: values, createdBy: writer, xmin: writer.id(), ctid: t.nextTupleID()}
	r.versions = []*version{v}
	t.rows = append(t.rows, r)
	writer.addTable(t)
	writer.newVersions = append(writer.newVersions, v)
	writer.undo = append(writer.undo, func() { t.rows = slices.DeleteFunc(t.rows, func(o *row) bool { return o == r }) })
	return v
}

// update ends the version and makes a new one. The transaction must have locked the row.
func (v *version) update(writer *tx, values []value) *version {
	updated := &version{row: v.row, values: values, createdBy: writer, previous: v, xmin: writer.id(), ctid: v.row.table.nextTupleID()}
	if v.xmax == writer.xid { // heap_update of PostgreSQL: the transaction had locked the row before, and keeps the lock
		updated.xmax = v.xmax
	}
	v.delete(writer)
	writer.newVersions = append(writer.newVersions, updated)
	v.next = updated
	v.row.versions = append(v.row.versions, updated)
	writer.undo = append(writer.undo, func() {
		v.next = nil
		v.row.versions = slices.DeleteFunc(v.row.versions, func(o *version) bool { return o == updated })
	})
	return updated
}

// delete ends the version without making a new one. The transaction must have locked the
// row.
func (v *version) delete(writer *tx) {
	v.endedBy, v.xmax = writer, writer.id()
	writer.addTable(v.row.table)
	writer.undo = append(writer.undo, func() { v.endedBy = nil })
}

// A sequence gives out the numbers 1, 2, 3 and so on. Like PostgreSQL's, it is never rolled
// back, and it logs numbers before it gives them out. After a crash it continues after the
// last logged number on the disk.
type sequence struct {
	name    string
	table   string // the table that owns it, if CREATE SEQUENCE names one
	last    int64  // 0 before the first number
	logged  int64  // the last number that the log covers, perhaps only in memory
	durable int64  // the last number that the log on the disk covers
}

// logAhead is how many numbers are logged at a time: SEQ_LOG_VALS of PostgreSQL's
// sequence.c.
const logAhead = 32

// next returns the next number of the sequence. The caller's transaction logs it.
func (q *sequence) next(caller *tx) int64 {
	q.last++
	if q.last > q.logged {
		q.logged = q.last + logAhead
		logged := q.logged
		caller.onDurable = append(caller.onDurable, func() { q.durable = max(q.durable, logged) })
	}
	return q.last
}

// crash resets the sequence to what is on the disk.
func (q *sequence) crash() {
	q.last, q.logged = q.durable, q.durable
}
