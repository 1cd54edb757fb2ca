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

func (x *changing) step(r *run) {
	if !x.begun {
		x.table.exists()
		x.begun = true
		x.found = x.table.visible(r.tx, r.snapshot)
	}
	for ; x.i < len(x.found); x.i++ {
		if x.written == nil {
			r.again()
			x.change(r, x.found[x.i])
			r.next()
		}
		if x.written == nil {
			continue
		}
		r.again()
		r.give(x.outputs, x.written)
		r.next()
		x.written = nil
	}
	if x.count == 0 && x.keyed != nil {
		x.refused(r)
	}
	r.tag = count(r.plan.of.Tag(), x.count)
}

// refused tells that the row of data which was meant is not as the condition has it.
func (x *changing) refused(r *run) {
	for _, v := range x.table.visible(r.tx, r.b.s.commits) {
		r.next()
		if r.holds(x.keyed, v) {
			r.b.s.register.refused(r.b, v, r.changed(x.set, v))
		}
	}
}

func (x *changing) change(r *run, v *version) {
	still := func(v *version) bool { return r.holds(x.where, v) }
	if !still(v) {
		return
	}
	if v = r.lock(v, sql.Locking{}, false, still); v == nil {
		return
	}
	if x.set == nil {
		v.delete(r.tx)
		x.written = v
	} else {
		x.written = r.rewrite(v, r.changed(x.set, v))
	}
	x.count++
}

// rewrite makes a new version of a row that the run has locked.
func (r *run) rewrite(v *version, values []value) *version {
	v.row.of.complete(values)
	r.unique(v.row.of, values, v.row)
	r.b.s.keeps(values)
	return v.update(r.tx, values)
}
