package postgres

// This file analyses and executes SELECT. A node is an analysed expression, and a version is the
// state of a row between two changes.

import (
	"math"
	"slices"

	"github.com/locksim/locksim/servers/postgres/internal/sql"
)

// A query is an analysed SELECT.
type query struct {
	table   *table // nil if the query has no FROM
	where   *node
	order   []ordering
	limit   *node
	lock    sql.Locking
	outputs []output
	// aggregates are computed over all rows that the query finds. The query then returns
	// one row. nil means that it has no aggregates.
	aggregates []*aggregate
	// bounds are conditions that exclude the rows of a view that the server does not have.
	// The query must satisfy one of them.
	bounds []func(*run) bool
	exists bool // the query is the operand of EXISTS, which needs to know only whether there is a row
}

// An ordering is one expression of ORDER BY.
type ordering struct {
	node *node
	desc bool
}

// analyseQuery analyses a SELECT by itself, without the statement around it. params and
// subs are those of that statement.
func (s *server) analyseQuery(stmt *sql.Select, params *[]sql.Type, subs *[]*query) *query {
	sc := &scope{s: s, params: params, subqueries: subs}
	q := &query{lock: stmt.Lock}
	if v := views[stmt.From.Table]; v != nil {
		q.table = v.bind(sc, q, stmt)
	} else if stmt.From.Table != "" {
		q.table = sc.bindTable(stmt.From)
	}
	q.aggregates = sc.analyseOutputs(q, stmt)
	q.where = sc.analyseCondition(stmt.Where, "WHERE")
	for _, o := range stmt.Order {
		q.order = append(q.order, ordering{sc.analyseOrderBy(o.Expr, q.outputs), o.Desc})
	}
	if stmt.Limit != nil {
		n := (&scope{s: s, params: params, subqueries: subs}).analyse(stmt.Limit)
		q.limit = sc.coerce(n, sql.Int8, isAssignable, newError(typeMismatch, "argument of LIMIT must be type bigint, not type %s", n.typ))
	}
	return q
}

// analyseOrderBy analyses an expression of ORDER BY: the name of an output, or any other
// expression.
func (sc *scope) analyseOrderBy(e sql.Expr, outputs []output) *node {
	if ref, is := e.(*sql.Ref); is && ref.Table == "" {
		var matches []output
		for _, o := range outputs {
			if o.name == ref.Column {
				matches = append(matches, o)
			}
		}
		switch {
		case len(matches) > 1 && matches[0].typ != matches[1].typ:
			raise(newError(ambiguousColumn, "ORDER BY \"%s\" is ambiguous", ref.Column))
		case len(matches) > 0 && matches[0].typ != sql.XID:
			return matches[0].node
		}
	}
	if _, is := e.(*sql.Literal); is {
		raise(unsupported("ORDER BY the number of a column"))
	}
	n := sc.analyse(e)
	raiseIf(n.typ == sql.XID, unknownFunction, "could not identify an ordering operator for type xid")
	return sc.resolveUnknown(n)
}

// A keptRow is a row that the query has found, with the values by which it is sorted.
type keptRow struct {
	*version
	sortValues []value
}

// carryOut finds and sorts the rows. It then locks them, if the query does, and returns
// them one after the other, up to the limit.
func (q *query) carryOut(r *run) {
	limit := int64(math.MaxInt64)
	if q.limit != nil {
		if n, is := r.eval(q.limit).(int64); is {
			if limit = n; n < 0 {
				raise(newError("2201W", "LIMIT must not be negative"))
			}
		}
	}
	if q.exists {
		limit = min(limit, 1)
	}
	var kept []keptRow
	for _, v := range q.candidates(r) {
		if q.exists && len(kept) > 0 && !q.lock.Update {
			break // EXISTS needs only one row, unless it also has to lock it
		}
		if r.isTrue(q.where, v) {
			k := keptRow{version: v}
			for _, o := range q.order {
				k.sortValues = append(k.sortValues, r.eval(o.node, v))
			}
			kept = append(kept, k)
		}
	}
	slices.SortStableFunc(kept, q.compare)
	if q.aggregates != nil {
		kept = q.aggregateRows(r, kept)
	}
	returned := int64(0)
	for i := 0; i < len(kept) && returned < limit; i++ {
		if q.lockAndAdd(r, kept[i].version) {
			returned++
		}
	}
	r.tag = countTag("SELECT", int(returned))
	if q.exists {
		r.rows = [][]value{{returned > 0}}
	}
}

// candidates returns the rows to which the query's condition is applied.
func (q *query) candidates(r *run) []*version {
	switch t := q.table; {
	case t == nil:
		return []*version{{}}
	case t.view != nil:
		return q.viewRows(r)
	default:
		t.checkExists()
		return t.visibleVersions(r.tx, r.snapshot)
	}
}

// compare orders two rows as ORDER BY says.
func (q *query) compare(a, b keptRow) int {
	for i, o := range q.order {
		c := compareNulls(a.sortValues[i], b.sortValues[i])
		if o.desc {
			c = -c
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

// compareNulls is [compare] for values that may be NULL, which comes after everything else.
func compareNulls(a, b value) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return compare(a, b)
}

// lockAndAdd locks a row, if the query asks for it, and adds it to the result. It returns
// false if it does not add the row: the row no longer exists or matches, or SKIP LOCKED
// skips it.
func (q *query) lockAndAdd(r *run, v *version) bool {
	locks := q.lock.Update && q.table != nil
	if locks {
		if v = r.lockRow(v, q.lock, false, func(v *version) bool { return r.isTrue(q.where, v) }); v == nil {
			return false
		}
	}
	r.addRow(q.outputs, v)
	if locks {
		v.xmax = r.tx.id() // only now, because the client gets the old xmax
	}
	if q.table != nil && q.aggregates == nil {
		r.b.s.register.emitRead(r.b, v)
	}
	return true
}
