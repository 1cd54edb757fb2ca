package postgres

import (
	"slices"

	"github.com/locksim/locksim/servers/postgres/internal/sql"
)

// A table has columns, and rows in the order in which they were inserted.
type table struct {
	name    string
	columns []column
	keys    []key
	indexes []string // the names of those that are no keys
	rows    []*row
	dropped bool
	places  int   // of versions that there have been
	view    *view // nil: it is a table
}

type column struct {
	name     string
	typ      sql.Type
	size     int // as in [sql.Column]
	notNull  bool
	byItself *node // the default; nil is none
}

// A key is a primary or unique one: the columns, by their numbers.
type key struct {
	name    string
	columns []int
}

// A row is all versions that there are of it, the latest last. Who updates a row adds one; the
// versions that a transaction has made count once it has committed.
type row struct {
	of       *table
	versions []*version
	// locker is the transaction that has the row; it may be over.
	locker *tx
}

// A version is what a row was from one transaction to another.
type version struct {
	row    *row
	values []value
	// by made it, over updated or deleted it; nil is nobody.
	by, over *tx
	// xmin is the ID of the transaction that made it. xmax is that of the last one that updated,
	// deleted or locked it, whatever came of that one; 0 is none.
	xmin, xmax uint32
	at         place
	// next is what an update has made of it, and before of what it was made; nil is none.
	next, before *version
}

// numberOf finds a column; -1 is none.
func (t *table) numberOf(name string) int {
	return slices.IndexFunc(t.columns, func(c column) bool { return c.name == name })
}

// sees says whether a snapshot that was taken before the commit number at finds the version.
func (v *version) sees(mine *tx, at uint64) bool {
	return v.by.counts(mine, at) && !(v.over != nil && v.over.counts(mine, at))
}

// counts says whether what a transaction did is true for another, at a commit number.
func (t *tx) counts(mine *tx, at uint64) bool {
	return t == mine || t.state == committed && t.number <= at
}

// visible are the versions that a statement finds, in the order of the table.
func (t *table) visible(mine *tx, at uint64) []*version {
	var all []*version
	for _, r := range t.rows {
		for _, v := range slices.Backward(r.versions) {
			if v.sees(mine, at) {
				all = append(all, v)
				break
			}
		}
	}
	return all
}

// same is a row that has the values of a key, or will have them when it is known what becomes of
// a transaction that is at it; nil if there is none. What mine has made of it counts. NULLs are
// all different.
func (t *table) same(k key, values []value, mine *tx, self *row) *version {
	differs := func(v *version) bool {
		return slices.ContainsFunc(k.columns, func(i int) bool {
			return values[i] == nil || v.values[i] == nil || compare(values[i], v.values[i]) != 0
		})
	}
	for _, r := range t.rows {
		for _, v := range slices.Backward(r.versions) {
			gone := v.over != nil && (v.over == mine || v.over.state == committed)
			if r != self && !gone && !differs(v) {
				return v
			}
		}
	}
	return nil
}

// tidy forgets what no snapshot can find any more.
func (t *table) tidy() {
	t.rows = slices.DeleteFunc(t.rows, func(r *row) bool {
		r.versions = slices.DeleteFunc(r.versions, func(v *version) bool { return v.over != nil && v.over.state == committed })
		return len(r.versions) == 0
	})
}

// next is where the next version of a row lies. A page has room for as many as there can be at
// most, and what is gone leaves its place unused: the real one uses it again at some time.
func (t *table) next() place {
	const most = 226
	t.places++
	return place{uint32((t.places - 1) / most), uint16((t.places-1)%most + 1)}
}

// insert adds a row.
func (t *table) insert(by *tx, values []value) *version {
	r := &row{of: t}
	v := &version{row: r, values: values, by: by, xmin: by.id(), at: t.next()}
	r.versions = []*version{v}
	t.rows = append(t.rows, r)
	by.touched(t)
	by.made = append(by.made, v)
	by.undo = append(by.undo, func() { t.rows = slices.DeleteFunc(t.rows, func(o *row) bool { return o == r }) })
	return v
}

// update makes a new version of a row, and delete none. The transaction has the row.
func (v *version) update(by *tx, values []value) *version {
	n := &version{row: v.row, values: values, by: by, before: v, xmin: by.id(), at: v.row.of.next()}
	if v.xmax == by.xid { // it has locked the row before, and keeps the lock: heap_update
		n.xmax = v.xmax
	}
	v.delete(by)
	by.made = append(by.made, n)
	v.next = n
	v.row.versions = append(v.row.versions, n)
	by.undo = append(by.undo, func() {
		v.next = nil
		v.row.versions = slices.DeleteFunc(v.row.versions, func(o *version) bool { return o == n })
	})
	return n
}

func (v *version) delete(by *tx) {
	v.over, v.xmax = by, by.id()
	by.touched(v.row.of)
	by.undo = append(by.undo, func() { v.over = nil })
}

// A sequence counts. Like PostgreSQL's it is never rolled back, and logs ahead: after a crash it
// goes on behind the last number that is on the disk.
type sequence struct {
	name    string
	last    int64 // 0: it has not begun
	logged  int64 // up to which the log has it
	durable int64 // up to which the disk has it
}

// ahead is how many numbers are logged at once: SEQ_LOG_VALS of PostgreSQL's sequence.c.
const ahead = 32

func (q *sequence) next(by *tx) int64 {
	q.last++
	if q.last > q.logged {
		q.logged = q.last + ahead
		logged := q.logged
		by.flushed = append(by.flushed, func() { q.durable = max(q.durable, logged) })
	}
	return q.last
}

// lost has it as a crash leaves it.
func (q *sequence) lost() {
	q.last, q.logged = q.durable, q.durable
}
