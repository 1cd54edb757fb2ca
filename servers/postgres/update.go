package postgres

import "github.com/locksim/locksim/servers/postgres/internal/sql"

func (s *server) planUpdate(p *plan, sc *scope, of *sql.Update) {
	t := sc.from(of.Of)
	x := &changing{table: t, set: sc.sets(t, of.Set), keyed: sc.keyed(t, of.Where)}
	sc.plansRows(p, of.Where, of.Returning, x)
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
	sc.plansRows(p, of.Where, of.Returning, &changing{table: sc.from(of.From)})
}

func (sc *scope) plansRows(p *plan, where sql.Expr, returning []sql.Output, x *changing) {
	x.where = sc.condition(where, "WHERE")
	p.outputs = sc.outputs(returning)
	p.carryOut = func(r *run) { x.carryOut(r, p.outputs) }
}

// changing is the execution of UPDATE, or of DELETE if nothing is set: row after row of those
// that it has found in the beginning.
type changing struct {
	table *table
	set   []*node
	where *node
	keyed *node // which row of data is meant; nil is no such thing
}

func (x *changing) carryOut(r *run, outputs []output) {
	x.table.exists()
	n := 0
	for _, v := range x.table.visible(r.tx, r.snapshot) {
		if written := x.change(r, v); written != nil {
			n++
			r.give(outputs, written)
		}
	}
	if n == 0 && x.keyed != nil {
		x.refused(r)
	}
	r.tag = count(r.plan.of.Tag(), n)
}

// refused tells that the row of data which was meant is not as the condition has it.
func (x *changing) refused(r *run) {
	for _, v := range x.table.visible(r.tx, r.b.s.commits) {
		if r.holds(x.keyed, v) {
			r.b.s.register.refused(r.b, v, r.changed(x.set, v))
		}
	}
}

// change changes a row, if it is still one of those that are meant, and returns what it has become.
func (x *changing) change(r *run, v *version) *version {
	still := func(v *version) bool { return r.holds(x.where, v) }
	if !still(v) {
		return nil
	}
	if v = r.lock(v, sql.Locking{}, false, still); v == nil {
		return nil
	}
	if x.set == nil {
		v.delete(r.tx)
		return v
	}
	values := r.changed(x.set, v)
	written, busy := r.rewrite(v, values)
	for busy != nil {
		r.waitEnd(busy)
		written, busy = r.rewrite(v, values)
	}
	return written
}

// rewrite makes a new version of a row that the run has locked, or returns the transaction that has
// to end before it can.
func (r *run) rewrite(v *version, values []value) (written *version, busy *tx) {
	v.row.of.complete(values)
	if busy := r.unique(v.row.of, values, v.row); busy != nil {
		return nil, busy
	}
	r.b.s.keeps(values)
	return v.update(r.tx, values), nil
}
