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
	p.begin = func() execution {
		one := x
		one.outputs = p.outputs
		return &one
	}
}

// listed are the columns of some names, by their numbers; of none all.
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

// values are a row of VALUES: a node for each column of the table.
func (sc *scope) values(t *table, columns []int, row []sql.Expr, fewer bool) []*node {
	switch {
	case len(row) > len(columns):
		raise(fail(syntaxError, "INSERT has more expressions than target columns"))
	case len(row) < len(columns) && !fewer:
		raise(fail(syntaxError, "INSERT has more target columns than expressions"))
	}
	values := make([]*node, len(t.columns))
	for i, c := range t.columns {
		var e sql.Expr // the default
		if j := slices.Index(columns, i); j >= 0 && j < len(row) {
			e = row[j]
		}
		values[i] = sc.assigned(c, e)
	}
	return values
}

// A conflict is what to do with a row that is there already.
type conflict struct {
	keys  []key // by which it is found
	set   []*node
	where *node
}

func (sc *scope) planConflict(t *table, of *sql.Insert) *conflict {
	c := &conflict{keys: t.keys}
	if of.Conflict.Columns != nil {
		columns := t.listed(of.Conflict.Columns)
		slices.Sort(columns)
		c.keys = slices.DeleteFunc(slices.Clone(t.keys), func(k key) bool { return !slices.Equal(slices.Sorted(slices.Values(k.columns)), columns) })
		if len(c.keys) == 0 {
			raise(fail(badColumnReference, "there is no unique or exclusion constraint matching the ON CONFLICT specification"))
		}
	}
	if of.Conflict.Update == nil {
		return c
	}
	sc.relations = []relation{{of.Into.Alias, t}, {"excluded", t}}
	c.set = sc.sets(t, of.Conflict.Update)
	c.where = sc.condition(of.Conflict.Where, "WHERE")
	return c
}

// inserting is the execution of INSERT.
type inserting struct {
	table    *table
	values   [][]*node
	where    *node // whether there is anything to be inserted
	conflict *conflict
	outputs  []output

	i, count int
	row      []value  // to be inserted
	done     bool     // what is left is its output
	written  *version // nil is none
	made     []*row   // by this statement
}

func (x *inserting) step(r *run) {
	x.table.exists()
	for ; x.i < len(x.values); x.i++ {
		if x.row == nil {
			r.again()
			if !r.holds(x.where) {
				r.next()
				continue
			}
			x.row = x.evaluate(r, x.values[x.i])
			r.next()
		}
		if !x.done {
			r.again()
			x.insert(r)
			x.done = true
			r.next()
		}
		if x.written != nil {
			r.again()
			r.give(x.outputs, x.written)
			r.next()
		}
		x.row, x.written, x.done = nil, nil, false
	}
	r.tag = count("INSERT 0", x.count)
}

func (x *inserting) evaluate(r *run, nodes []*node) []value {
	row := make([]value, len(nodes))
	for i, n := range nodes {
		row[i] = r.eval(n)
	}
	x.table.complete(row)
	return row
}

// insert inserts the row, or does what is to be done if it is there.
func (x *inserting) insert(r *run) {
	if c := x.conflict; c != nil {
		for _, k := range c.keys {
			if there := r.rival(x.table, k, x.row, nil); there != nil {
				x.instead(r, there)
				return
			}
		}
	}
	r.unique(x.table, x.row, nil)
	r.b.s.keeps(x.row)
	x.written = x.table.insert(r.tx, x.row)
	x.made = append(x.made, x.written.row)
	x.count++
}

// instead updates the row that is there, or does nothing. It finds the row's latest version,
// also if the statement's snapshot does not have it.
func (x *inserting) instead(r *run, there *version) {
	c := x.conflict
	if c.set == nil {
		return
	}
	if slices.Contains(x.made, there.row) {
		raise(fail(cardinality, "ON CONFLICT DO UPDATE command cannot affect row a second time"))
	}
	there = r.lock(there, sql.Locking{}, true, nil)
	excluded := &version{values: x.row}
	if !r.holds(c.where, there, excluded) {
		return
	}
	x.written = r.rewrite(there, r.changed(c.set, there, excluded))
	x.made = append(x.made, there.row)
	x.count++
}
