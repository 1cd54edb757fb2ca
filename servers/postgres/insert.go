package postgres

// This file analyses and executes INSERT, with ON CONFLICT. A node is an analysed expression, and a
// version is the state of a row between two changes.

import (
	"slices"

	"github.com/locksim/locksim/servers/postgres/internal/sql"
)

// planInsert analyses an INSERT.
func (s *server) planInsert(p *plan, sc *scope, stmt *sql.Insert) {
	t := s.table(stmt.Into.Table)
	x := insertion{table: t}
	columns := t.columnNumbers(stmt.Columns)
	for _, row := range stmt.Rows {
		x.values = append(x.values, sc.analyseRow(t, columns, row, stmt.Columns == nil))
	}
	x.where = sc.analyseCondition(stmt.Where, "WHERE")
	if stmt.Conflict != nil {
		x.conflict = sc.planConflict(t, stmt)
	}
	sc.relations = []relation{{stmt.Into.Alias, t}}
	p.outputs = sc.analyseColumns(stmt.Returning)
	x.outputs = p.outputs
	p.carryOut = func(r *run) {
		// Each execution counts its own rows.
		execution := x
		execution.carryOut(r)
	}
}

// columnNumbers returns the numbers of the columns with these names. nil means all columns.
func (t *table) columnNumbers(names []string) []int {
	var numbers []int
	if names == nil {
		for i := range t.columns {
			numbers = append(numbers, i)
		}
	}
	for _, name := range names {
		i := t.columnNumber(name)
		switch {
		case i < 0:
			raise(newError(unknownColumn, "column \"%s\" of relation \"%s\" does not exist", name, t.name))
		case slices.Contains(numbers, i):
			raise(newError(duplicateColumn, "column \"%s\" specified more than once", name))
		}
		numbers = append(numbers, i)
	}
	return numbers
}

// analyseRow analyses a row of VALUES and returns a node for each column of the table. If
// allowFewer is true, the row may have fewer expressions than there are columns.
func (sc *scope) analyseRow(t *table, columns []int, row []sql.Expr, allowFewer bool) []*node {
	switch {
	case len(row) > len(columns):
		raise(newError(syntaxError, "INSERT has more expressions than target columns"))
	case len(row) < len(columns) && !allowFewer:
		raise(newError(syntaxError, "INSERT has more target columns than expressions"))
	}
	values := make([]*node, len(t.columns))
	for i, c := range t.columns {
		var e sql.Expr // nil means the column's default
		if j := slices.Index(columns, i); j >= 0 && j < len(row) {
			e = row[j]
		}
		values[i] = sc.analyseAssigned(c, e)
	}
	return values
}

// A conflict is an ON CONFLICT clause. A nil set means DO NOTHING. Otherwise set has the
// new value for each column; nil means unchanged.
type conflict struct {
	keys  []key // the keys that can conflict
	set   []*node
	where *node
}

// planConflict analyses the ON CONFLICT clause of an INSERT.
func (sc *scope) planConflict(t *table, stmt *sql.Insert) *conflict {
	c := &conflict{keys: t.keys}
	if stmt.Conflict.Columns != nil {
		columns := t.columnNumbers(stmt.Conflict.Columns)
		slices.Sort(columns)
		c.keys = slices.DeleteFunc(slices.Clone(t.keys), func(k key) bool { return !slices.Equal(slices.Sorted(slices.Values(k.columns)), columns) })
		raiseIf(len(c.keys) == 0, badColumnReference, "there is no unique or exclusion constraint matching the ON CONFLICT specification")
	}
	if stmt.Conflict.Update == nil {
		return c
	}
	sc.relations = []relation{{stmt.Into.Alias, t}, {"excluded", t}}
	c.set = sc.setNodes(t, stmt.Conflict.Update)
	c.where = sc.analyseCondition(stmt.Conflict.Where, "WHERE")
	return c
}

// An insertion is the execution of an INSERT.
type insertion struct {
	table    *table
	values   [][]*node // the rows to insert, with a node for each column
	where    *node     // the condition of INSERT … SELECT; nil is true
	conflict *conflict
	outputs  []output

	count    int
	inserted []*row // the rows that this statement has inserted
}

// carryOut inserts the rows, one after the other.
func (x *insertion) carryOut(r *run) {
	x.table.checkExists()
	for _, nodes := range x.values {
		if !r.isTrue(x.where) {
			continue
		}
		row := make([]value, len(nodes))
		for i, n := range nodes {
			row[i] = r.eval(n)
		}
		x.table.checkNotNull(row)
		written, busy := x.insert(r, row)
		for busy != nil {
			r.waitForEnd(busy)
			written, busy = x.insert(r, row)
		}
		if written != nil {
			x.inserted = append(x.inserted, written.row)
			x.count++
			r.addRow(x.outputs, written)
		}
	}
	r.tag = countTag("INSERT 0", x.count)
}

// insert inserts a row, or resolves the conflict if a row with its key exists. If another
// open transaction has written or deleted such a row, insert returns that transaction as
// busy. The caller then waits until it ends and tries again.
func (x *insertion) insert(r *run, row []value) (written *version, busy *tx) {
	if x.conflict != nil {
		for _, k := range x.conflict.keys {
			if existing, busy := r.keyConflict(x.table, k, row, nil); existing != nil || busy != nil {
				return x.resolveConflict(r, row, existing, busy)
			}
		}
	}
	if busy := r.checkUnique(x.table, row, nil); busy != nil {
		return nil, busy
	}
	r.b.s.accountForValues(row)
	return x.table.insert(r.tx, row), nil
}

// resolveConflict does what ON CONFLICT says: it updates the existing row, or does nothing.
// It uses the row's latest version, even if the statement's snapshot does not see that
// version.
func (x *insertion) resolveConflict(r *run, row []value, existing *version, busy *tx) (*version, *tx) {
	c := x.conflict
	switch {
	case busy != nil || c.set == nil:
		return nil, busy
	case slices.Contains(x.inserted, existing.row):
		raise(newError(cardinality, "ON CONFLICT DO UPDATE command cannot affect row a second time"))
	case existing.row.otherLocker(r.tx) != nil:
		return nil, existing.row.otherLocker(r.tx)
	}
	existing = r.lockRow(existing, sql.Locking{}, true, nil)
	excluded := &version{values: row}
	if !r.isTrue(c.where, existing, excluded) {
		return nil, nil
	}
	return r.rewrite(existing, r.updatedValues(c.set, existing, excluded))
}
