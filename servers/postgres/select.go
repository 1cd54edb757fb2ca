package postgres

import (
	"math"
	"slices"

	"github.com/locksim/locksim/servers/postgres/internal/sql"
)

// A query is a SELECT that has been analysed.
type query struct {
	table   *table // nil is none
	where   *node
	order   []ordering
	limit   *node
	lock    sql.Locking
	outputs []output
	// aggregates are computed of all rows that are found, of which there is one result then; nil
	// is none.
	aggregates []*aggregate
	// bounds are the conditions of a view's rows of which one has to be enough.
	bounds []func(*run) bool
	exists bool // only whether it has a row is asked for
}

type ordering struct {
	node *node
	desc bool
}

// query analyses a SELECT, which knows nothing of the statement around it.
func (s *server) query(of *sql.Select, params *[]sql.Type, subs *[]*query) *query {
	sc := &scope{s: s, params: params, subs: subs}
	q := &query{lock: of.Lock}
	if v := views[of.From.Table]; v != nil {
		q.table = v.from(sc, q, of)
	} else if of.From.Table != "" {
		q.table = sc.from(of.From)
	}
	q.aggregates = sc.aggregated(q, of)
	q.where = sc.condition(of.Where, "WHERE")
	for _, o := range of.Order {
		q.order = append(q.order, ordering{sc.ordered(o.Expr, q.outputs), o.Desc})
	}
	if of.Limit != nil {
		n := (&scope{s: s, params: params, subs: subs}).analyse(of.Limit)
		q.limit = sc.as(n, sql.Int8, assignable, fail(typeMismatch, "argument of LIMIT must be type bigint, not type %s", n.typ))
	}
	return q
}

// ordered is what rows are ordered by: the name of an output, or an expression.
func (sc *scope) ordered(e sql.Expr, outputs []output) *node {
	if ref, is := e.(*sql.Ref); is && ref.Table == "" {
		var found []output
		for _, o := range outputs {
			if o.name == ref.Column {
				found = append(found, o)
			}
		}
		switch {
		case len(found) > 1 && found[0].typ != found[1].typ:
			raise(fail(ambiguousColumn, "ORDER BY \"%s\" is ambiguous", ref.Column))
		case len(found) > 0 && found[0].typ != sql.XID:
			return found[0].node
		}
	}
	if _, is := e.(*sql.Literal); is {
		raise(without("ORDER BY the number of a column"))
	}
	n := sc.analyse(e)
	refuse(n.typ == sql.XID, unknownFunction, "could not identify an ordering operator for type xid")
	return sc.settled(n)
}

// A keptRow is one that was found, with what it is ordered by.
type keptRow struct {
	*version
	by []value
}

// carryOut finds rows, puts them in order, and then, as far as it may have any, locks and gives one
// after the other.
func (q *query) carryOut(r *run) {
	most := int64(math.MaxInt64)
	if q.limit != nil {
		if n, is := r.eval(q.limit).(int64); is {
			if most = n; n < 0 {
				raise(fail("2201W", "LIMIT must not be negative"))
			}
		}
	}
	if q.exists {
		most = min(most, 1)
	}
	var kept []keptRow
	for _, v := range q.finds(r) {
		if q.exists && len(kept) > 0 && !q.lock.Update {
			break // unless it has to be locked as well, one that is found is one that there is
		}
		if r.holds(q.where, v) {
			k := keptRow{version: v}
			for _, o := range q.order {
				k.by = append(k.by, r.eval(o.node, v))
			}
			kept = append(kept, k)
		}
	}
	slices.SortStableFunc(kept, q.compare)
	if q.aggregates != nil {
		kept = q.sum(r, kept)
	}
	given := int64(0)
	for i := 0; i < len(kept) && given < most; i++ {
		if q.give(r, kept[i].version) {
			given++
		}
	}
	r.tag = count("SELECT", int(given))
	if q.exists {
		r.rows = [][]value{{given > 0}}
	}
}

// finds are the rows that the query is about.
func (q *query) finds(r *run) []*version {
	switch t := q.table; {
	case t == nil:
		return []*version{{}}
	case t.view != nil:
		return q.shows(r)
	default:
		t.exists()
		return t.visible(r.tx, r.snapshot)
	}
}

func (q *query) compare(a, b keptRow) int {
	for i, o := range q.order {
		c := compareNulls(a.by[i], b.by[i])
		if o.desc {
			c = -c
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

// compareNulls has NULL after everything else.
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

// give locks a row, if it is to be, and gives it; false if there is nothing to lock.
func (q *query) give(r *run, v *version) bool {
	locks := q.lock.Update && q.table != nil
	if locks {
		if v = r.lock(v, q.lock, false, func(v *version) bool { return r.holds(q.where, v) }); v == nil {
			return false
		}
	}
	r.give(q.outputs, v)
	if locks {
		v.xmax = r.tx.id() // which the row is shown without
	}
	if q.table != nil && q.aggregates == nil {
		r.b.s.register.found(r.b, v)
	}
	return true
}
