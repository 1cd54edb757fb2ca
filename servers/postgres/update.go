package postgres

import "github.com/locksim/locksim/servers/postgres/internal/sql"

func (s *server) planUpdate(p *plan, sc *scope, of *sql.Update) {
	t := sc.from(of.Of)
	set := sc.sets(t, of.Set)
	keyed := sc.keyed(t, of.Where)
	sc.plansRows(p, of.Where, of.Returning, func() *changing { return &changing{table: t, set: set, keyed: keyed} })
}

// keyed is the part of a condition that says which row is meant by the key of a table of data; nil
// if there is none.
func (sc *scope) keyed(t *table, where sql.Expr) *node {
	o, is := where.(*sql.Operation)
	switch {
	case !is || !t.isData():
		return nil
	case o.Op == "and":
		if n := sc.keyed(t, o.X); n != nil {
			return n
		}
		return sc.keyed(t, o.Y)
	}
	ref, is := o.X.(*sql.Ref)
	_, param := o.Y.(*sql.Param)
	_, literal := o.Y.(*sql.Literal)
	if !is || o.Op != "=" || !param && !literal || t.numberOf(ref.Column) != t.keys[0].columns[0] {
		return nil
	}
	return sc.condition(o, "WHERE")
}

func (s *server) planDelete(p *plan, sc *scope, of *sql.Delete) {
	t := sc.from(of.From)
	sc.plansRows(p, of.Where, of.Returning, func() *changing { return &changing{table: t} })
}

func (sc *scope) plansRows(p *plan, where sql.Expr, returning []sql.Output, begin func() *changing) {
	condition := sc.condition(where, "WHERE")
	p.outputs = sc.outputs(returning)
	p.begin = func() execution {
		x := begin()
		x.where, x.outputs = condition, p.outputs
		return x
	}
}

// changing is the execution of UPDATE, or of DELETE if nothing is set: row after row of those
// that it has found in the beginning.
type changing struct {
	table   *table
	set     []*node
	where   *node
	keyed   *node // which row of data is meant; nil is no such thing
	outputs []output

	begun    bool
	found    []*version
	i, count int
	// written is what the row has become, when only its output is left to be done.
	written *version
}

func (x *changing) step(r *run) error {
	if !x.begun {
		if x.table.dropped {
			return fail(unknownTable, "relation \"%s\" does not exist", x.table.name)
		}
		x.begun = true
		x.found = x.table.visible(r.tx, r.snapshot)
	}
	for ; x.i < len(x.found); x.i++ {
		if x.written == nil {
			r.again()
			if err := x.change(r, x.found[x.i]); err != nil {
				return err
			}
			r.next()
		}
		if x.written == nil {
			continue
		}
		r.again()
		if err := r.give(x.outputs, x.written); err != nil {
			return err
		}
		r.next()
		x.written = nil
	}
	if x.count == 0 && x.keyed != nil {
		if err := x.refused(r); err != nil {
			return err
		}
	}
	what := "UPDATE"
	if x.set == nil {
		what = "DELETE"
	}
	r.tag = count(what, x.count)
	return nil
}

// refused tells that the row of data which was meant is not as the condition has it.
func (x *changing) refused(r *run) error {
	for _, v := range x.table.visible(r.tx, r.b.s.commits) {
		r.next()
		is, err := r.holds(x.keyed, v)
		if err != nil {
			return err
		}
		if !is {
			continue
		}
		values, err := r.changed(x.set, v)
		if err != nil {
			return err
		}
		r.b.s.register.refused(r.b, v, values)
	}
	return nil
}

func (x *changing) change(r *run, v *version) error {
	still := func(v *version) (bool, error) { return r.holds(x.where, v) }
	if is, err := still(v); !is {
		return err
	}
	v, err := r.lock(v, sql.Locking{}, false, still)
	if v == nil {
		return err
	}
	if x.set == nil {
		v.delete(r.tx)
		x.written = v
		x.count++
		return nil
	}
	values, err := r.changed(x.set, v)
	if err != nil {
		return err
	}
	if x.written, err = r.rewrite(v, values); err != nil {
		return err
	}
	x.count++
	return nil
}

// rewrite makes a new version of a row that the run has locked.
func (r *run) rewrite(v *version, values []value) (*version, error) {
	t := v.row.of
	if err := t.complete(values); err != nil {
		return nil, err
	}
	for _, k := range t.keys {
		if err := r.unique(t, k, values, v.row); err != nil {
			return nil, err
		}
	}
	r.b.s.keeps(values)
	return v.update(r.tx, values), nil
}
