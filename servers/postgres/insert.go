package postgres

import (
	"slices"

	"github.com/locksim/locksim/servers/postgres/internal/sql"
)

func (s *server) planInsert(p *plan, sc *scope, of *sql.Insert) {
	t := s.table(of.Into.Table)
	x := inserting{table: t}
	columns := t.listed(of.Columns)
	for _, row := range of.Rows {
		x.values = append(x.values, sc.values(t, columns, row, of.Columns == nil))
	}
	x.where = sc.condition(of.Where, "WHERE")
	if of.Conflict != nil {
		x.conflict = sc.planConflict(t, of)
	}
	sc.relations = []relation{{of.Into.Alias, t}}
	p.outputs = sc.outputs(of.Returning)
	x.outputs = p.outputs
	p.carryOut = func(r *run) {
		one := x
		one.carryOut(r)
	}
}

// columnNumbers returns the numbers of the named columns; nil names are all columns.
func (t *table) listed(names []string) []int {
	var all []int
	if names == nil {
		for i := range t.columns {
			all = append(all, i)
		}
	}
	for _, name := range names {
		i := t.numberOf(name)
		switch {
		case i < 0:
			raise(fail(unknownColumn, "column \"%s\" of relation \"%s\" does not exist", name, t.name))
		case slices.Contains(all, i):
			raise(fail(duplicateColumn, "column \"%s\" specified more than once", name))
		}
		all = append(all, i)
	}
	return all
}

// values analyses a row of VALUES: it returns a node for each column of the table. fewer
// allows fewer expressions than columns.
func (sc *scope) values(t *table, columns []int, row []sql.Expr, fewer bool) []*node {
	switch {
	case len(row) > len(columns):
		raise(fail(syntaxError, "INSERT has more expressions than target columns"))
	case len(row) < len(columns) && !fewer:
		raise(fail(syntaxError, "INSERT has more target columns than expressions"))
	}
	values := make([]*node, len(t.columns))
	for i, c := range t.columns {
		var e sql.Expr // nil is the default
		if j := slices.Index(columns, i); j >= 0 && j < len(row) {
			e = row[j]
		}
		values[i] = sc.assigned(c, e)
	}
	return values
}

// A conflict is an ON CONFLICT clause. A nil set means DO NOTHING.
type conflict struct {
	keys  []key // the keys that can conflict
	set   []*node
	where *node
}

func (sc *scope) planConflict(t *table, of *sql.Insert) *conflict {
	c := &conflict{keys: t.keys}
	if of.Conflict.Columns != nil {
		columns := t.listed(of.Conflict.Columns)
		slices.Sort(columns)
		c.keys = slices.DeleteFunc(slices.Clone(t.keys), func(k key) bool { return !slices.Equal(slices.Sorted(slices.Values(k.columns)), columns) })
		refuse(len(c.keys) == 0, badColumnReference, "there is no unique or exclusion constraint matching the ON CONFLICT specification")
	}
	if of.Conflict.Update == nil {
		return c
	}
	sc.relations = []relation{{of.Into.Alias, t}, {"excluded", t}}
	c.set = sc.sets(t, of.Conflict.Update)
	c.where = sc.condition(of.Conflict.Where, "WHERE")
	return c
}

// An insertion is the execution of an INSERT.
type inserting struct {
	table    *table
	values   [][]*node
	where    *node // the condition of INSERT … SELECT; nil is true
	conflict *conflict
	outputs  []output

	count int
	made  []*row // the rows that this statement has inserted
}

func (x *inserting) carryOut(r *run) {
	x.table.exists()
	for _, nodes := range x.values {
		if !r.holds(x.where) {
			continue
		}
		row := make([]value, len(nodes))
		for i, n := range nodes {
			row[i] = r.eval(n)
		}
		x.table.complete(row)
		written, busy := x.insert(r, row)
		for busy != nil {
			r.waitEnd(busy)
			written, busy = x.insert(r, row)
		}
		if written != nil {
			x.made = append(x.made, written.row)
			x.count++
			r.give(x.outputs, written)
		}
	}
	r.tag = count("INSERT 0", x.count)
}

// insert inserts a row, or handles the conflict if a row with its key exists. If another
// transaction has written or deleted such a row, insert returns that transaction: the
// caller waits for its end and tries again.
func (x *inserting) insert(r *run, row []value) (written *version, busy *tx) {
	if x.conflict != nil {
		for _, k := range x.conflict.keys {
			if there, busy := r.rival(x.table, k, row, nil); there != nil || busy != nil {
				return x.instead(r, row, there, busy)
			}
		}
	}
	if busy := r.unique(x.table, row, nil); busy != nil {
		return nil, busy
	}
	r.b.s.keeps(row)
	return x.table.insert(r.tx, row), nil
}

// resolveConflict updates the existing row, or does nothing. It uses the row's latest
// version, even if the statement's snapshot does not see it.
func (x *inserting) instead(r *run, row []value, there *version, busy *tx) (*version, *tx) {
	c := x.conflict
	switch {
	case busy != nil || c.set == nil:
		return nil, busy
	case slices.Contains(x.made, there.row):
		raise(fail(cardinality, "ON CONFLICT DO UPDATE command cannot affect row a second time"))
	case there.row.others(r.tx) != nil:
		return nil, there.row.others(r.tx)
	}
	there = r.lock(there, sql.Locking{}, true, nil)
	excluded := &version{values: row}
	if !r.holds(c.where, there, excluded) {
		return nil, nil
	}
	return r.rewrite(there, r.changed(c.set, there, excluded))
}
