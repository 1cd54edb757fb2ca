package postgres

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/locksim/locksim/servers/postgres/internal/sql"
)

// A frame is what an expression is of: the values of parameters, columns and queries in
// brackets.
type frame struct {
	r *run
	// rows are those of the relations of the scope.
	rows [2]*version
	// aggregated are what the aggregates of the query have come to.
	aggregated []value
	// done is what functions came to that must not be called twice for one row: after a wait
	// an expression is evaluated from its beginning. at counts them.
	done []value
	at   int
}

// A node is an expression whose meaning is known.
type node struct {
	typ  sql.Type
	eval func(*frame) (value, error)
	// Of an unknown type: the text of a literal, or the number of a parameter.
	text  string
	param int
}

// A relation is a table, or what was to be inserted into it, under a name.
type relation struct {
	alias string
	table *table
}

// A scope is what the names in a statement mean.
type scope struct {
	s         *server
	relations []relation
	// params are the types of the parameters, as far as they are known.
	params *[]sql.Type
	subs   *[]*query
	// aggregates are those of the query whose outputs are analysed; nil is where there can be
	// none.
	aggregates *aggregates
}

func constant(v value, t sql.Type) *node {
	return &node{typ: t, eval: func(*frame) (value, error) { return v, nil }}
}

// analyse is an expression.
func (sc *scope) analyse(e sql.Expr) (*node, error) {
	switch e := e.(type) {
	case *sql.Literal:
		return literal(e)
	case *sql.Param:
		return sc.param(e.Number), nil
	case *sql.Ref:
		return sc.ref(e)
	case *sql.Operation:
		return sc.operation(e)
	case *sql.Is:
		return sc.is(e)
	case *sql.Distinct:
		return sc.distinct(e)
	case *sql.In:
		return sc.in(e)
	case *sql.Cast:
		return sc.cast(e)
	case *sql.Call:
		return sc.call(e)
	case *sql.Case:
		return sc.caseWhen(e)
	case *sql.Sub:
		return sc.sub(e)
	case *sql.Exists:
		return sc.exists(e)
	}
	return nil, without("this kind of expression")
}

func literal(e *sql.Literal) (*node, error) {
	switch e.Kind {
	case sql.String:
		return &node{typ: unknown, text: e.Text, eval: func(*frame) (value, error) { return e.Text, nil }}, nil
	case sql.Null:
		return constant(nil, unknown), nil
	case sql.Boolean:
		return constant(e.Text == "true", sql.Bool), nil
	case sql.Decimal:
		f, err := strconv.ParseFloat(e.Text, 64)
		if err != nil {
			return nil, fail(outOfRange, "\"%s\" is out of range for type double precision", e.Text)
		}
		return constant(f, sql.Float8), nil
	}
	n, err := strconv.ParseInt(e.Text, 10, 64)
	switch {
	case err != nil:
		return nil, without("numbers of more than 64 bits")
	case n > math.MaxInt32:
		return constant(n, sql.Int8), nil
	}
	return constant(n, sql.Int4), nil
}

func (sc *scope) param(n int) *node {
	for len(*sc.params) < n {
		*sc.params = append(*sc.params, unknown)
	}
	return &node{typ: (*sc.params)[n-1], param: n, eval: func(f *frame) (value, error) { return f.r.params[n-1], nil }}
}

func (sc *scope) ref(e *sql.Ref) (*node, error) {
	var found *node
	known := e.Table == ""
	for i, r := range sc.relations {
		if e.Table != "" && e.Table != r.alias {
			continue
		}
		known = true
		// What was to be inserted is only found by its name.
		if e.Table == "" && i > 0 {
			continue
		}
		if c := r.table.numberOf(e.Column); c >= 0 {
			found = &node{typ: r.table.columns[c].typ, eval: func(f *frame) (value, error) { return f.rows[i].values[c], nil }}
		}
	}
	switch {
	case !known && slices.ContainsFunc(sc.relations, func(r relation) bool { return r.table.name == e.Table }):
		return nil, fail(unknownTable, "invalid reference to FROM-clause entry for table \"%s\"", e.Table)
	case !known:
		return nil, fail(unknownTable, "missing FROM-clause entry for table \"%s\"", e.Table)
	case found == nil && slices.Contains(systemColumns, e.Column):
		return sc.system(e)
	case found != nil && e.Table == "" && len(sc.relations) > 1 && sc.relations[1].table.numberOf(e.Column) >= 0:
		return nil, fail(ambiguousColumn, "column reference \"%s\" is ambiguous", e.Column)
	case found != nil:
		sc.aggregates.refers(sc.relations[0].alias, e.Column)
		return found, nil
	}
	for _, r := range sc.relations {
		switch {
		case e.Table == "" && e.Column == r.alias:
			return nil, without("a whole row as a value")
		case (e.Table == "" || e.Table == r.alias) && r.table.view != nil && slices.Contains(r.table.view.lacks, e.Column):
			return nil, without("the column %s of %s", e.Column, r.table.name)
		}
	}
	if e.Table != "" {
		return nil, fail(unknownColumn, "column %s.%s does not exist", e.Table, e.Column)
	}
	return nil, fail(unknownColumn, "column \"%s\" does not exist", e.Column)
}

// systemColumns are those that each row of a table has besides its own.
var systemColumns = []string{"xmin", "xmax", "ctid", "tableoid", "cmin", "cmax"}

// system is a system column of the first relation. The number of the table and those of a transaction's
// commands are not served.
func (sc *scope) system(e *sql.Ref) (*node, error) {
	of := sc.relations[0]
	switch {
	case of.table.view != nil && e.Table != "":
		return nil, fail(unknownColumn, "column %s.%s does not exist", e.Table, e.Column)
	case of.table.view != nil:
		return nil, fail(unknownColumn, "column \"%s\" does not exist", e.Column)
	case e.Table != "" && e.Table != of.alias, !slices.Contains([]string{"xmin", "xmax", "ctid"}, e.Column):
		return nil, without("the system column %s", strings.TrimPrefix(strings.TrimPrefix(e.Table, of.alias)+"."+e.Column, "."))
	}
	sc.aggregates.refers(of.alias, e.Column)
	switch e.Column {
	case "ctid":
		return &node{typ: sql.TID, eval: func(f *frame) (value, error) { return f.rows[0].at, nil }}, nil
	case "xmin":
		return &node{typ: sql.XID, eval: func(f *frame) (value, error) { return int64(f.rows[0].xmin), nil }}, nil
	}
	return &node{typ: sql.XID, eval: func(f *frame) (value, error) { return int64(f.rows[0].xmax), nil }}, nil
}

// as has a node be of a type, where PostgreSQL takes it for one: by itself, as ok says.
func (sc *scope) as(n *node, t sql.Type, ok func(from, to sql.Type) bool, otherwise error) (*node, error) {
	// A parameter whose type was not known may have been seen twice.
	if n.param > 0 && n.typ == unknown {
		if was := (*sc.params)[n.param-1]; was == unknown {
			(*sc.params)[n.param-1] = t
			return &node{typ: t, eval: n.eval, param: n.param}, nil
		} else if was != t && !ok(was, t) {
			return nil, fail(ambiguousParameter, "inconsistent types deduced for parameter $%d", n.param)
		} else {
			n = &node{typ: was, eval: n.eval, param: n.param}
		}
	}
	switch {
	case n.typ == t:
		return n, nil
	case n.typ == unknown:
		v, err := n.eval(nil)
		if err != nil || v == nil {
			return constant(nil, t), err
		}
		if v, err = read(v.(string), t); err != nil {
			return nil, err
		}
		return constant(v, t), nil
	case !ok(n.typ, t):
		return nil, otherwise
	}
	from, eval := n.typ, n.eval
	return &node{typ: t, eval: func(f *frame) (value, error) {
		v, err := eval(f)
		if err != nil {
			return nil, err
		}
		return convert(v, from, t)
	}}, nil
}

// want is as, for what has to be of a type.
func (sc *scope) want(n *node, t sql.Type, where string) (*node, error) {
	return sc.as(n, t, implicit, fail(typeMismatch, "argument of %s must be type %s, not type %s", where, t, n.typ))
}

// settled has a node be of some type: what nothing says the type of is a text.
func (sc *scope) settled(n *node) (*node, error) {
	if n.typ == unknown {
		return sc.as(n, sql.Text, implicit, nil)
	}
	return n, nil
}

// alike has two nodes be of one type, to be compared.
func (sc *scope) alike(x, y *node, op string) (*node, *node, error) {
	none := fail(unknownFunction, "operator does not exist: %s %s %s", x.typ, op, y.typ)
	t := x.typ
	switch {
	case x.typ == unknown && y.typ == unknown:
		t = sql.Text
	case x.typ == unknown, implicit(x.typ, y.typ):
		t = y.typ
	}
	if t == sql.Varchar || t == sql.Name && x.typ != y.typ && x.typ != unknown && y.typ != unknown { // which has no operators of its own
		t = sql.Text
	}
	if t == void {
		return nil, nil, none
	}
	x, err := sc.as(x, t, implicit, none)
	if err == nil {
		y, err = sc.as(y, t, implicit, none)
	}
	return x, y, err
}

func (sc *scope) is(e *sql.Is) (*node, error) {
	x, err := sc.analyse(e.X)
	if err != nil {
		return nil, err
	}
	if e.What == "null" {
		if x, err = sc.settled(x); err != nil {
			return nil, err
		}
	} else if x, err = sc.want(x, sql.Bool, "IS "+upper(e.What)); err != nil {
		return nil, err
	}
	var what value
	if e.What == "true" || e.What == "false" {
		what = e.What == "true"
	}
	return &node{typ: sql.Bool, eval: func(f *frame) (value, error) {
		v, err := x.eval(f)
		return (v == what) != e.Not, err
	}}, nil
}

func (sc *scope) distinct(e *sql.Distinct) (*node, error) {
	x, y, err := sc.both(e.X, e.Y)
	if err == nil {
		x, y, err = sc.comparable(x, y, "=")
	}
	if err != nil {
		return nil, err
	}
	return &node{typ: sql.Bool, eval: func(f *frame) (value, error) {
		a, err := x.eval(f)
		if err != nil {
			return nil, err
		}
		b, err := y.eval(f)
		return equal(a, b) == e.Not, err
	}}, nil
}

func (sc *scope) both(x, y sql.Expr) (*node, *node, error) {
	a, err := sc.analyse(x)
	if err != nil {
		return nil, nil, err
	}
	b, err := sc.analyse(y)
	return a, b, err
}

// in is X = one OR X = another and so on.
func (sc *scope) in(e *sql.In) (*node, error) {
	var all *node
	for _, one := range e.List {
		x, y, err := sc.both(e.X, one)
		if err != nil {
			return nil, err
		}
		same, err := sc.compared("=", x, y)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = same
		} else {
			all = either(all, same)
		}
	}
	return all, nil
}

func (sc *scope) cast(e *sql.Cast) (*node, error) {
	x, err := sc.analyse(e.X)
	if err != nil {
		return nil, err
	}
	if lit, is := e.X.(*sql.Literal); is && lit.Kind == sql.Decimal && isInteger(e.Type) {
		// PostgreSQL's decimals are no floating-point numbers, and halves are rounded up.
		if v, err := x.eval(nil); err == nil {
			x = constant(math.Round(v.(float64)), sql.Float8)
		}
	}
	x, err = sc.as(x, e.Type, castable, fail(cannotCoerce, "cannot cast type %s to %s", x.typ, e.Type))
	if err != nil || e.Size == 0 {
		return x, err
	}
	return strict(x, e.Type, func(v value) (value, error) {
		if all := []rune(v.(string)); len(all) > e.Size {
			return string(all[:e.Size]), nil
		}
		return v, nil
	}), nil
}

func (sc *scope) caseWhen(e *sql.Case) (*node, error) {
	var conditions, results []*node
	for _, one := range e.When {
		c, err := sc.analyse(one)
		if err == nil {
			c, err = sc.want(c, sql.Bool, "CASE/WHEN")
		}
		if err != nil {
			return nil, err
		}
		conditions = append(conditions, c)
	}
	for _, one := range e.Then {
		x, err := sc.analyse(one)
		if err != nil {
			return nil, err
		}
		results = append(results, x)
	}
	if e.Else != nil {
		x, err := sc.analyse(e.Else)
		if err != nil {
			return nil, err
		}
		results = append(results, x)
	} else {
		results = append(results, constant(nil, unknown))
	}
	results, t, err := sc.common("CASE", results)
	if err != nil {
		return nil, err
	}
	return &node{typ: t, eval: func(f *frame) (value, error) {
		for i, c := range conditions {
			is, err := c.eval(f)
			if err != nil {
				return nil, err
			}
			if is == true {
				return results[i].eval(f)
			}
		}
		return results[len(results)-1].eval(f)
	}}, nil
}

// common has nodes be of the type that all of them can be.
func (sc *scope) common(what string, all []*node) ([]*node, sql.Type, error) {
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
		as, err := sc.as(n, t, implicit, fail(typeMismatch, "%s types %s and %s cannot be matched", what, t, n.typ))
		if err != nil {
			return nil, "", err
		}
		all[i] = as
	}
	return all, t, nil
}

// inner analyses a query in brackets. One that does not know a name may mean one of the rows around it.
func (sc *scope) inner(of *sql.Select) (*query, error) {
	q, err := sc.s.query(of, sc.params, sc.subs)
	if err != nil && len(sc.relations) > 0 {
		o := asOops(err)
		if !o.ours && (o.code == unknownColumn || o.code == unknownTable && strings.Contains(o.text, "FROM-clause entry")) {
			return nil, without("a query in brackets that refers to the rows around it")
		}
	}
	return q, err
}

// sub is a query in brackets: it is run once, before the rest of the statement.
func (sc *scope) sub(e *sql.Sub) (*node, error) {
	q, err := sc.inner(e.Select)
	if err != nil {
		return nil, err
	}
	if len(q.outputs) != 1 {
		return nil, fail(syntaxError, "subquery must return only one column")
	}
	i := len(*sc.subs)
	*sc.subs = append(*sc.subs, q)
	return &node{typ: q.outputs[0].typ, eval: func(f *frame) (value, error) { return f.r.subs[i], nil }}, nil
}

// exists is whether a query in brackets has a row. It is run as those are whose value is asked for,
// and no further than to its first row.
func (sc *scope) exists(e *sql.Exists) (*node, error) {
	q, err := sc.inner(e.Select)
	if err != nil {
		return nil, err
	}
	q.exists = true
	i := len(*sc.subs)
	*sc.subs = append(*sc.subs, q)
	return &node{typ: sql.Bool, eval: func(f *frame) (value, error) { return f.r.subs[i], nil }}, nil
}
