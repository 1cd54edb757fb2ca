package postgres

// This file analyses and executes UPDATE and DELETE. A node is an analysed expression, and a
// version is the state of a row between two changes.

import "github.com/locksim/locksim/servers/postgres/internal/sql"

// planUpdate analyses an UPDATE.
func (s *server) planUpdate(p *plan, sc *scope, stmt *sql.Update) {
	t := sc.bindTable(stmt.Of)
	x := &rowChange{table: t, set: sc.setNodes(t, stmt.Set), keyCondition: sc.analyseKeyCondition(t, stmt.Where)}
	sc.planRowChange(p, stmt.Where, stmt.Returning, x)
}

// analyseKeyCondition analyses the part of a condition that names a row of a table of data
// by its key; nil if there is none.
func (sc *scope) analyseKeyCondition(t *table, where sql.Expr) *node {
	o, is := where.(*sql.Operation)
	switch {
	case !is || !t.isData():
		return nil
	case o.Op == "and":
		if n := sc.analyseKeyCondition(t, o.X); n != nil {
			return n
		}
		return sc.analyseKeyCondition(t, o.Y)
	}
	ref, is := o.X.(*sql.Ref)
	_, param := o.Y.(*sql.Param)
	_, literal := o.Y.(*sql.Literal)
	if !is || o.Op != "=" || !param && !literal || t.columnNumber(ref.Column) != t.keys[0].columns[0] {
		return nil
	}
	return sc.analyseCondition(o, "WHERE")
}

// planDelete analyses a DELETE.
func (s *server) planDelete(p *plan, sc *scope, stmt *sql.Delete) {
	sc.planRowChange(p, stmt.Where, stmt.Returning, &rowChange{table: sc.bindTable(stmt.From)})
}

// planRowChange completes the plan of an UPDATE or a DELETE.
func (sc *scope) planRowChange(p *plan, where sql.Expr, returning []sql.Output, x *rowChange) {
	x.where = sc.analyseCondition(where, "WHERE")
	p.outputs = sc.analyseColumns(returning)
	p.carryOut = func(r *run) { x.carryOut(r, p.outputs) }
}

// A rowChange is the execution of an UPDATE or, if set is nil, of a DELETE. It goes through
// the rows that were visible when it began. set has the new value for each column; nil
// means that the column does not change.
type rowChange struct {
	table        *table
	set          []*node
	where        *node
	keyCondition *node // the condition on the key of a table of data; nil if there is none
}

// carryOut changes the rows, one after the other.
func (x *rowChange) carryOut(r *run, outputs []output) {
	x.table.checkExists()
	n := 0
	for _, v := range x.table.visibleVersions(r.tx, r.snapshot) {
		if written := x.apply(r, v); written != nil {
			n++
			r.addRow(outputs, written)
		}
	}
	if n == 0 && x.keyCondition != nil {
		x.emitRefused(r)
	}
	r.tag = countTag(r.plan.statement.Tag(), n)
}

// emitRefused emits a refused write if the row with the key exists, but the other
// conditions of the UPDATE were not met.
func (x *rowChange) emitRefused(r *run) {
	for _, v := range x.table.visibleVersions(r.tx, r.b.s.commitCount) {
		if r.isTrue(x.keyCondition, v) {
			r.b.s.register.emitRefusedWrite(r.b, v, r.updatedValues(x.set, v))
		}
	}
}

// apply changes a row, if the row still meets the condition, and returns the row's new
// version. For a DELETE it returns the deleted version. If the row no longer meets the
// condition, it returns nil.
func (x *rowChange) apply(r *run, v *version) *version {
	matches := func(v *version) bool { return r.isTrue(x.where, v) }
	if !matches(v) {
		return nil
	}
	if v = r.lockRow(v, sql.Locking{}, false, matches); v == nil {
		return nil
	}
	if x.set == nil {
		v.delete(r.tx)
		return v
	}
	values := r.updatedValues(x.set, v)
	written, busy := r.rewrite(v, values)
	for busy != nil {
		r.waitForEnd(busy)
		written, busy = r.rewrite(v, values)
	}
	return written
}

// rewrite makes a new version of a row that the run has locked. If it must first wait for
// another transaction, it returns that transaction as busy instead.
func (r *run) rewrite(v *version, values []value) (written *version, busy *tx) {
	v.row.table.checkNotNull(values)
	if busy := r.checkUnique(v.row.table, values, v.row); busy != nil {
		return nil, busy
	}
	r.b.s.accountForValues(values)
	return v.update(r.tx, values), nil
}
