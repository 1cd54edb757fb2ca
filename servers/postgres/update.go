package postgres

import "github.com/locksim/locksim/servers/postgres/internal/sql"

func (s *server) planUpdate(p *plan, sc *scope, of *sql.Update) {
	t := sc.from(of.Of)
	x := &changing{table: t, set: sc.sets(t, of.Set), keyed: sc.keyed(t, of.Where)}
	sc.plansRows(p, of.Where, of.Returning, x)
}

// keyCondition analyses the part of a condition that names a row of a table of data by its
// key; nil if there is none.
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

// A rowChange is the execution of an UPDATE, or of a DELETE if set is nil. It goes through
// the rows that were visible when it began.
type changing struct {
	table *table
	set   []*node
	where *node
	keyed *node // the condition on the key of a table of data; nil if there is none
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

// emitRefused emits a refused write if the row with the key exists but the other conditions
// did not hold.
func (x *changing) refused(r *run) {
	for _, v := range x.table.visible(r.tx, r.b.s.commits) {
		if r.holds(x.keyed, v) {
			r.b.s.register.refused(r.b, v, r.changed(x.set, v))
		}
	}
}

// apply changes a row if it still meets the condition, and returns its new version. For a
// DELETE it returns the deleted version.
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

// rewrite makes a new version of a row that the run has locked. If it must first wait for
// another transaction, it returns that transaction instead.
func (r *run) rewrite(v *version, values []value) (written *version, busy *tx) {
	v.row.of.complete(values)
	if busy := r.unique(v.row.of, values, v.row); busy != nil {
		return nil, busy
	}
	r.b.s.keeps(values)
	return v.update(r.tx, values), nil
}
