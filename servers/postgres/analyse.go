package postgres

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/locksim/locksim/servers/postgres/internal/sql"
)

// A frame holds what an expression is evaluated on: the values of parameters, columns and
// subqueries.
type frame struct {
	r *run
	// rows are the current rows of the scope's relations.
	rows [2]*version
	// aggregated are the values of the query's aggregates.
	aggregated []value
}

// A node is an analysed expression. Its evaluation raises errors, as its analysis does.
type node struct {
	typ  sql.Type
	eval func(*frame) value
	// If the type is unknown: the text of a literal, or the number of a parameter.
	text  string
	param int
}

// A relation is a table under a name, or the row of ON CONFLICT that was to be inserted
// (excluded).
type relation struct {
	alias string
	table *table
}

// A scope resolves the names in a statement.
type scope struct {
	s         *server
	relations []relation
	// params are the types of the parameters that are known so far.
	params *[]sql.Type
	subs   *[]*query
	// aggregates are those of the query whose outputs are being analysed; nil where
	// aggregates are not allowed.
	aggregates *aggregates
}

func constant(v value, t sql.Type) *node {
	return &node{typ: t, eval: func(*frame) value { return v }}
}

// analyse turns an expression into a node. It raises an error if the expression is wrong.
func (sc *scope) analyse(e sql.Expr) *node {
	switch e := e.(type) {
	case *sql.Literal:
		return literal(e)
	case *sql.Param:
		return sc.param(e.Number)
	case *sql.Ref:
		return sc.ref(e)
	case *sql.Operation:
		return sc.operation(e)
	case *sql.Is:
		return sc.is(e)
	case *sql.Cast:
		return sc.cast(e)
	case *sql.Call:
		return sc.call(e)
	case *sql.Case:
		return sc.caseWhen(e)
	case *sql.Sub:
		return sc.sub(e)
	}
	panic(raised{without("this kind of expression")})
}

func literal(e *sql.Literal) *node {
	switch e.Kind {
	case sql.String:
		return &node{typ: unknown, text: e.Text, eval: func(*frame) value { return e.Text }}
	case sql.Null:
		return constant(nil, unknown)
	case sql.Boolean:
		return constant(e.Text == "true", sql.Bool)
	case sql.Decimal:
		f, err := strconv.ParseFloat(e.Text, 64)
		refuse(err != nil, outOfRange, "\"%s\" is out of range for type double precision", e.Text)
		return constant(f, sql.Float8)
	}
	n, err := strconv.ParseInt(e.Text, 10, 64)
	switch {
	case err != nil:
		raise(without("numbers of more than 64 bits"))
	case n > math.MaxInt32:
		return constant(n, sql.Int8)
	}
	return constant(n, sql.Int4)
}

func (sc *scope) param(n int) *node {
	for len(*sc.params) < n {
		*sc.params = append(*sc.params, unknown)
	}
	return &node{typ: (*sc.params)[n-1], param: n, eval: func(f *frame) value { return f.r.params[n-1] }}
}

func (sc *scope) ref(e *sql.Ref) *node {
	var found *node
	known := e.Table == ""
	for i, r := range sc.relations {
		if e.Table != "" && e.Table != r.alias {
			continue
		}
		known = true
		// The columns of excluded are found only by their qualified names.
		if e.Table == "" && i > 0 {
			continue
		}
		if c := r.table.numberOf(e.Column); c >= 0 {
			found = &node{typ: r.table.columns[c].typ, eval: func(f *frame) value { return f.rows[i].values[c] }}
		}
	}
	switch {
	case !known && slices.ContainsFunc(sc.relations, func(r relation) bool { return r.table.name == e.Table }):
		raise(fail(unknownTable, "invalid reference to FROM-clause entry for table \"%s\"", e.Table))
	case !known:
		raise(fail(unknownTable, "missing FROM-clause entry for table \"%s\"", e.Table))
	case found == nil && slices.Contains(systemColumns, e.Column):
		return sc.system(e)
	case found != nil && e.Table == "" && len(sc.relations) > 1 && sc.relations[1].table.numberOf(e.Column) >= 0:
		raise(fail(ambiguousColumn, "column reference \"%s\" is ambiguous", e.Column))
	case found != nil:
		sc.aggregates.refers(sc.relations[0].alias, e.Column)
		return found
	}
	for _, r := range sc.relations {
		switch {
		case e.Table == "" && e.Column == r.alias:
			raise(without("a whole row as a value"))
		case (e.Table == "" || e.Table == r.alias) && r.table.view != nil && slices.Contains(r.table.view.lacks, e.Column):
			raise(without("the column %s of %s", e.Column, r.table.name))
		}
	}
	panic(raised{noColumn(e)})
}

// noColumn returns the error for a name that no column has.
func noColumn(e *sql.Ref) error {
	if e.Table != "" {
		return fail(unknownColumn, "column %s.%s does not exist", e.Table, e.Column)
	}
	return fail(unknownColumn, "column \"%s\" does not exist", e.Column)
}

// systemColumns are the columns that PostgreSQL adds to each table.
var systemColumns = []string{"xmin", "xmax", "ctid", "tableoid", "cmin", "cmax"}

// system returns a system column of the first relation. The columns tableoid, cmin and cmax
// are not supported.
func (sc *scope) system(e *sql.Ref) *node {
	of := sc.relations[0]
	switch {
	case of.table.view != nil:
		raise(noColumn(e))
	case e.Table != "" && e.Table != of.alias, !slices.Contains([]string{"xmin", "xmax", "ctid"}, e.Column):
		raise(without("the system column %s", strings.TrimPrefix(strings.TrimPrefix(e.Table, of.alias)+"."+e.Column, ".")))
	}
	sc.aggregates.refers(of.alias, e.Column)
	switch e.Column {
	case "ctid":
		return &node{typ: sql.TID, eval: func(f *frame) value { return f.rows[0].at }}
	case "xmin":
		return &node{typ: sql.XID, eval: func(f *frame) value { return int64(f.rows[0].xmin) }}
	}
	return &node{typ: sql.XID, eval: func(f *frame) value { return int64(f.rows[0].xmax) }}
}

// coerce converts a node to a type. ok reports whether PostgreSQL allows the conversion
// here; otherwise is the error that coerce raises if it does not.
func (sc *scope) as(n *node, t sql.Type, ok func(from, to sql.Type) bool, otherwise error) *node {
	// An earlier use of a parameter may have fixed its type.
	if n.param > 0 && n.typ == unknown {
		if was := (*sc.params)[n.param-1]; was == unknown {
			(*sc.params)[n.param-1] = t
			return &node{typ: t, eval: n.eval, param: n.param}
		} else if was != t && !ok(was, t) {
			raise(fail(ambiguousParameter, "inconsistent types deduced for parameter $%d", n.param))
		} else {
			n = &node{typ: was, eval: n.eval, param: n.param}
		}
	}
	switch {
	case n.typ == t:
		return n
	case n.typ == unknown:
		v := n.eval(nil)
		if v != nil {
			v = read(v.(string), t)
		}
		return constant(v, t)
	case !ok(n.typ, t):
		raise(otherwise)
	}
	return &node{typ: t, eval: func(f *frame) value { return convert(n.eval(f), n.typ, t) }}
}

// require converts a node to a type that the syntax at this place requires.
func (sc *scope) want(n *node, t sql.Type, where string) *node {
	return sc.as(n, t, implicit, fail(typeMismatch, "argument of %s must be type %s, not type %s", where, t, n.typ))
}

// resolveUnknown gives a node of unknown type the type text.
func (sc *scope) settled(n *node) *node {
	if n.typ == unknown {
		return sc.as(n, sql.Text, implicit, nil)
	}
	return n
}

// unify converts two operands to one type, to compare them.
func (sc *scope) alike(x, y *node, op string) (*node, *node) {
	none := fail(unknownFunction, "operator does not exist: %s %s %s", x.typ, op, y.typ)
	t := x.typ
	switch {
	case x.typ == unknown && y.typ == unknown:
		t = sql.Text
	case x.typ == unknown, implicit(x.typ, y.typ):
		t = y.typ
	}
	if t == sql.Varchar || t == sql.Name && x.typ != y.typ && x.typ != unknown && y.typ != unknown { // varchar has no operators of its own
		t = sql.Text
	}
	if t == void {
		raise(none)
	}
	x = sc.as(x, t, implicit, none)
	return x, sc.as(y, t, implicit, none)
}

func (sc *scope) is(e *sql.Is) *node {
	x := sc.analyse(e.X)
	if e.What == "null" {
		x = sc.settled(x)
	} else {
		x = sc.want(x, sql.Bool, "IS "+upper(e.What))
	}
	var what value
	if e.What == "true" || e.What == "false" {
		what = e.What == "true"
	}
	return &node{typ: sql.Bool, eval: func(f *frame) value { return (x.eval(f) == what) != e.Not }}
}

func (sc *scope) cast(e *sql.Cast) *node {
	x := sc.analyse(e.X)
	if lit, is := e.X.(*sql.Literal); is && lit.Kind == sql.Decimal && isInteger(e.Type) {
		// PostgreSQL's decimals are not floating-point numbers, and it rounds halves away
		// from zero.
		x = constant(math.Round(x.eval(nil).(float64)), sql.Float8)
	}
	x = sc.as(x, e.Type, castable, fail(cannotCoerce, "cannot cast type %s to %s", x.typ, e.Type))
	if e.Size == 0 {
		return x
	}
	return strict(x, e.Type, func(v value) value {
		all := []rune(v.(string))
		return string(all[:min(len(all), e.Size)])
	})
}

func (sc *scope) caseWhen(e *sql.Case) *node {
	var conditions, results []*node
	for _, one := range e.When {
		conditions = append(conditions, sc.want(sc.analyse(one), sql.Bool, "CASE/WHEN"))
	}
	for _, one := range e.Then {
		results = append(results, sc.analyse(one))
	}
	if e.Else != nil {
		results = append(results, sc.analyse(e.Else))
	} else {
		results = append(results, constant(nil, unknown))
	}
	results, t := sc.common("CASE", results)
	return &node{typ: t, eval: func(f *frame) value {
		for i, c := range conditions {
			if c.eval(f) == true {
				return results[i].eval(f)
			}
		}
		return results[len(results)-1].eval(f)
	}}
}

// commonType converts nodes to the one type that all of them can have.
func (sc *scope) common(what string, all []*node) ([]*node, sql.Type) {
	t := unknown
	for _, n := range all {
		if t == unknown || n.typ != unknown && implicit(t, n.typ) {
			t = n.typ
		}
	}
	if t == unknown {
		t = sql.Text
	}
	for i, n := range all {
		all[i] = sc.as(n, t, implicit, fail(typeMismatch, "%s types %s and %s cannot be matched", what, t, n.typ))
	}
	return all, t
}

// subquery analyses a query in parentheses. A name that it does not know may refer to the
// query around it, which is not supported.
func (sc *scope) inner(of *sql.Select) (q *query) {
	err := caught(func() { q = sc.s.query(of, sc.params, sc.subs) })
	if err == nil {
		return q
	}
	if o := asError(err); len(sc.relations) > 0 && !o.Ours && (o.Code == unknownColumn || o.Code == unknownTable && strings.Contains(o.Message, "FROM-clause entry")) {
		err = without("a query in brackets that refers to the rows around it")
	}
	panic(raised{err})
}

// subqueryNode returns the value of a query in parentheses. The query runs once, before the
// rest of the statement. With EXISTS it stops at its first row.
func (sc *scope) sub(e *sql.Sub) *node {
	q, t := sc.inner(e.Select), sql.Bool
	if q.exists = e.Exists; !q.exists {
		refuse(len(q.outputs) != 1, syntaxError, "subquery must return only one column")
		t = q.outputs[0].typ
	}
	i := len(*sc.subs)
	*sc.subs = append(*sc.subs, q)
	return &node{typ: t, eval: func(f *frame) value { return f.r.subs[i] }}
}
