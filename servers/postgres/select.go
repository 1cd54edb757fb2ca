package postgres

import (
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
	if n.typ == sql.XID {
		raise(fail(unknownFunction, "could not identify an ordering operator for type xid"))
	}
	return sc.settled(n)
}

func (q *query) begin() execution { return &selecting{query: q, limit: -1} }

// selecting is the execution of a query: it finds rows, puts them in order, and then, as far as
// it may have any, locks and gives one after the other.
type selecting struct {
	*query
	begun, sorted bool
	summed        bool
	limit         int64 // -1 is none
	found         []*version
	kept          []keptRow
	i, given      int
}

// A keptRow is one that was found, with what it is ordered by.
type keptRow struct {
	*version
	by []value
}

func (x *selecting) step(r *run) {
	if !x.begun {
		x.begins(r)
		x.begun = true
	}
	for ; !x.sorted && x.i < len(x.found) && !x.enough(); x.i++ {
		r.again()
		x.keep(r, x.found[x.i])
		r.next()
	}
	if !x.sorted {
		x.sort()
	}
	if x.aggregates != nil && !x.summed {
		x.sum(r)
	}
	for ; x.i < len(x.kept) && (x.limit < 0 || int64(x.given) < x.limit) && !(x.exists && x.given > 0); x.i++ {
		r.again()
		x.give(r, x.kept[x.i].version)
		r.next()
	}
	r.tag = count("SELECT", x.given)
	if x.exists {
		r.rows = [][]value{{x.given > 0}}
	}
}

// enough says that no other row need be looked at: one that is found is one that there is, unless
// it has to be locked as well.
func (x *selecting) enough() bool { return x.exists && len(x.kept) > 0 && !x.lock.Update }

func (x *selecting) begins(r *run) {
	if x.query.limit != nil {
		if n, is := r.eval(x.query.limit).(int64); is {
			if x.limit = n; n < 0 {
				raise(fail("2201W", "LIMIT must not be negative"))
			}
		}
		r.next()
	}
	switch t := x.table; {
	case t == nil:
		x.found = []*version{{}}
	case t.view != nil:
		x.found = x.shows(r)
	default:
		t.exists()
		x.found = t.visible(r.tx, r.snapshot)
	}
}

func (x *selecting) keep(r *run, v *version) {
	if !r.holds(x.where, v) {
		return
	}
	k := keptRow{version: v}
	for _, o := range x.order {
		k.by = append(k.by, r.eval(o.node, v))
	}
	x.kept = append(x.kept, k)
}

func (x *selecting) sort() {
	slices.SortStableFunc(x.kept, func(a, b keptRow) int {
		for i, o := range x.order {
			c := compareNulls(a.by[i], b.by[i])
			if o.desc {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return 0
	})
	x.sorted, x.i = true, 0
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

func (x *selecting) give(r *run, v *version) {
	locks := x.lock.Update && x.table != nil
	if locks {
		if v = r.lock(v, x.lock, false, func(v *version) bool { return r.holds(x.where, v) }); v == nil {
			return
		}
	}
	r.give(x.outputs, v)
	if locks {
		v.xmax = r.tx.id() // which the row is shown without
	}
	if x.table != nil && x.aggregates == nil {
		r.b.s.register.found(r.b, v)
	}
	x.given++
}
