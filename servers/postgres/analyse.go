package postgres

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/locksim/locksim/servers/postgres/internal/sql"
)

// A frame holds the values with which an expression is evaluated. r is the execution of the
// statement; it has the values of the parameters and of the subqueries.
type frame struct {
	r *run
	// rows are the current rows of the scope's relations.
	rows [2]*version
	// aggregated are the values of the query's aggregates.
	aggregated []value
}

// A node is an analysed expression. eval returns its value, and raises an error if it has
// none.
type node struct {
	typ  sql.Type
	eval func(*frame) value
	// If the type is unknown, text is the text of a literal. param is the number of a
	// parameter, counted from 1; 0 if the node is no parameter.
	text  string
	param int
}

// A relation is a table under the name that it has in a statement. In ON CONFLICT the row
// that could not be inserted is a second relation, named excluded.
type relation struct {
	alias string
	table *table
}

// A scope resolves the names in a statement while the statement is analysed.
type scope struct {
	s         *server
	relations []relation
	// params are the types of the parameters that are known so far.
	params     *[]sql.Type
	subqueries *[]*query // the subqueries that have been found so far
	// aggregates are those of the query whose outputs are being analysed; nil where
	// aggregates are not allowed.
	aggregates *aggregates
}

// constant returns a node that always has the value v.
func constant(v value, t sql.Type) *node {
	return &node{typ: t, eval: func(*frame) value { return v }}
}

// analyse turns an expression into a node. It raises an error if the expression is wrong.
func (sc *scope) analyse(e sql.Expr) *node {
	switch e := e.(type) {
	case *sql.Literal:
		return literal(e)
	case *sql.Param:
		return sc.analyseParam(e.Number)
	case *sql.Ref:
		return sc.analyseRef(e)
	case *sql.Operation:
		return sc.analyseOperation(e)
	case *sql.Is:
		return sc.analyseIs(e)
	case *sql.Cast:
		return sc.analyseCast(e)
	case *sql.Call:
		return sc.analyseCall(e)
	case *sql.Case:
		return sc.analyseCase(e)
	case *sql.Sub:
		return sc.subqueryNode(e)
	}
	panic(raisedError{unsupported("this kind of expression")})
}

// literal returns the node for a constant in a statement.
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
		raiseIf(err != nil, outOfRange, "\"%s\" is out of range for type double precision", e.Text)
		return constant(f, sql.Float8)
	}
	n, err := strconv.ParseInt(e.Text, 10, 64)
	switch {
	case err != nil:
		raise(unsupported("numbers of more than 64 bits"))
	case n > math.MaxInt32:
		return constant(n, sql.Int8)
	}
	return constant(n, sql.Int4)
}

// analyseParam returns the node for the n-th parameter, counted from 1.
func (sc *scope) analyseParam(n int) *node {
	for len(*sc.params) < n {
		*sc.params = append(*sc.params, unknown)
	}
	return &node{typ: (*sc.params)[n-1], param: n, eval: func(f *frame) value { return f.r.params[n-1] }}
}

// analyseRef returns the node for the name of a column. The name may be that of a system
// column.
func (sc *scope) analyseRef(e *sql.Ref) *node {
	var found *node
	tableFound := e.Table == ""
	for i, r := range sc.relations {
		if e.Table != "" && e.Table != r.alias {
			continue
		}
		tableFound = true
		// The columns of excluded are found only by their qualified names.
		if e.Table == "" && i > 0 {
			continue
		}
		if c := r.table.columnNumber(e.Column); c >= 0 {
			found = &node{typ: r.table.columns[c].typ, eval: func(f *frame) value { return f.rows[i].values[c] }}
		}
	}
	switch {
	case !tableFound && slices.ContainsFunc(sc.relations, func(r relation) bool { return r.table.name == e.Table }):
		raise(newError(unknownTable, "invalid reference to FROM-clause entry for table \"%s\"", e.Table))
	case !tableFound:
		raise(newError(unknownTable, "missing FROM-clause entry for table \"%s\"", e.Table))
	case found == nil && slices.Contains(systemColumns, e.Column):
		return sc.systemColumn(e)
	case found != nil && e.Table == "" && len(sc.relations) > 1 && sc.relations[1].table.columnNumber(e.Column) >= 0:
		raise(newError(ambiguousColumn, "column reference \"%s\" is ambiguous", e.Column))
	case found != nil:
		sc.aggregates.noteColumn(sc.relations[0].alias, e.Column)
		return found
	}
	for _, r := range sc.relations {
		switch {
		case e.Table == "" && e.Column == r.alias:
			raise(unsupported("a whole row as a value"))
		case (e.Table == "" || e.Table == r.alias) && r.table.view != nil && slices.Contains(r.table.view.missingColumns, e.Column):
			raise(unsupported("the column %s of %s", e.Column, r.table.name))
		}
	}
	panic(raisedError{noColumn(e)})
}

// noColumn returns the error for a name that no column has.
func noColumn(e *sql.Ref) error {
	if e.Table != "" {
		return newError(unknownColumn, "column %s.%s does not exist", e.Table, e.Column)
	}
	return newError(unknownColumn, "column \"%s\" does not exist", e.Column)
}

// systemColumns are the columns that PostgreSQL adds to each table.
var systemColumns = []string{"xmin", "xmax", "ctid", "tableoid", "cmin", "cmax"}

// systemColumn returns a system column of the first relation. The columns tableoid, cmin
// and cmax are not supported.
func (sc *scope) systemColumn(e *sql.Ref) *node {
	rel := sc.relations[0]
	switch {
	case rel.table.view != nil:
		raise(noColumn(e))
	case e.Table != "" && e.Table != rel.alias, !slices.Contains([]string{"xmin", "xmax", "ctid"}, e.Column):
		raise(unsupported("the system column %s", strings.TrimPrefix(strings.TrimPrefix(e.Table, rel.alias)+"."+e.Column, ".")))
	}
	sc.aggregates.noteColumn(rel.alias, e.Column)
	switch e.Column {
	case "ctid":
		return &node{typ: sql.TID, eval: func(f *frame) value { return f.rows[0].ctid }}
	case "xmin":
		return &node{typ: sql.XID, eval: func(f *frame) value { return int64(f.rows[0].xmin) }}
	}
	return &node{typ: sql.XID, eval: func(f *frame) value { return int64(f.rows[0].xmax) }}
}

// coerce converts a node to the type t. isAllowed reports whether PostgreSQL converts one type to
// the other in this context. If isAllowed returns false, coerce raises the error refusal.
func (sc *scope) coerce(n *node, t sql.Type, isAllowed func(from, to sql.Type) bool, refusal error) *node {
	// An earlier use of a parameter may have fixed its type.
	if n.param > 0 && n.typ == unknown {
		if previous := (*sc.params)[n.param-1]; previous == unknown {
			(*sc.params)[n.param-1] = t
			return &node{typ: t, eval: n.eval, param: n.param}
		} else if previous != t && !isAllowed(previous, t) {
			raise(newError(ambiguousParameter, "inconsistent types deduced for parameter $%d", n.param))
		} else {
			n = &node{typ: previous, eval: n.eval, param: n.param}
		}
	}
	switch {
	case n.typ == t:
		return n
	case n.typ == unknown:
		v := n.eval(nil)
		if v != nil {
			v = parseValue(v.(string), t)
		}
		return constant(v, t)
	case !isAllowed(n.typ, t):
		raise(refusal)
	}
	return &node{typ: t, eval: func(f *frame) value { return convert(n.eval(f), n.typ, t) }}
}

// require converts a node to the type that the syntax needs here. where names the construct
// for the error.
func (sc *scope) require(n *node, t sql.Type, where string) *node {
	return sc.coerce(n, t, isImplicit, newError(typeMismatch, "argument of %s must be type %s, not type %s", where, t, n.typ))
}

// resolveUnknown gives a node of unknown type the type text.
func (sc *scope) resolveUnknown(n *node) *node {
	if n.typ == unknown {
		return sc.coerce(n, sql.Text, isImplicit, nil)
	}
	return n
}

// unify converts two operands of an operator to one type, so that they can be compared.
func (sc *scope) unify(x, y *node, op string) (*node, *node) {
	noOperator := newError(unknownFunction, "operator does not exist: %s %s %s", x.typ, op, y.typ)
	t := x.typ
	switch {
	case x.typ == unknown && y.typ == unknown:
		t = sql.Text
	case x.typ == unknown, isImplicit(x.typ, y.typ):
		t = y.typ
	}
	if t == sql.Varchar || t == sql.Name && x.typ != y.typ && x.typ != unknown && y.typ != unknown { // varchar has no operators of its own
		t = sql.Text
	}
	if t == void {
		raise(noOperator)
	}
	x = sc.coerce(x, t, isImplicit, noOperator)
	return x, sc.coerce(y, t, isImplicit, noOperator)
}

// analyseIs analyses IS NULL and similar tests.
func (sc *scope) analyseIs(e *sql.Is) *node {
	x := sc.analyse(e.X)
	if e.What == "null" {
		x = sc.resolveUnknown(x)
	} else {
		x = sc.require(x, sql.Bool, "IS "+upper(e.What))
	}
	var wanted value
	if e.What == "true" || e.What == "false" {
		wanted = e.What == "true"
	}
	return &node{typ: sql.Bool, eval: func(f *frame) value { return (x.eval(f) == wanted) != e.Not }}
}

// analyseCast analyses a cast to another type.
func (sc *scope) analyseCast(e *sql.Cast) *node {
	x := sc.analyse(e.X)
	if lit, is := e.X.(*sql.Literal); is && lit.Kind == sql.Decimal && isInteger(e.Type) {
		// In PostgreSQL this literal is a decimal, not a floating-point number, and a decimal that
		// is halfway between two integers is rounded away from zero.
		x = constant(math.Round(x.eval(nil).(float64)), sql.Float8)
	}
	x = sc.coerce(x, e.Type, isCastable, newError(cannotCoerce, "cannot cast type %s to %s", x.typ, e.Type))
	if e.Size == 0 {
		return x
	}
	return strict(x, e.Type, func(v value) value {
		all := []rune(v.(string))
		return string(all[:min(len(all), e.Size)])
	})
}

// analyseCase analyses CASE WHEN.
func (sc *scope) analyseCase(e *sql.Case) *node {
	var conditions, results []*node
	for _, expr := range e.When {
		conditions = append(conditions, sc.require(sc.analyse(expr), sql.Bool, "CASE/WHEN"))
	}
	for _, expr := range e.Then {
		results = append(results, sc.analyse(expr))
	}
	if e.Else != nil {
		results = append(results, sc.analyse(e.Else))
	} else {
		results = append(results, constant(nil, unknown))
	}
	results, t := sc.commonType("CASE", results)
	return &node{typ: t, eval: func(f *frame) value {
		for i, c := range conditions {
			if c.eval(f) == true {
				return results[i].eval(f)
			}
		}
		return results[len(results)-1].eval(f)
	}}
}

// commonType converts nodes to the one type that all of them can have, and returns that
// type. construct is the name of the construct for the error.
func (sc *scope) commonType(construct string, all []*node) ([]*node, sql.Type) {
	t := unknown
	for _, n := range all {
		if t == unknown || n.typ != unknown && isImplicit(t, n.typ) {
			t = n.typ
		}
	}
	if t == unknown {
		t = sql.Text
	}
	for i, n := range all {
		all[i] = sc.coerce(n, t, isImplicit, newError(typeMismatch, "%s types %s and %s cannot be matched", construct, t, n.typ))
	}
	return all, t
}

// analyseSubquery analyses a query in parentheses. A name that the query itself does not know may
// belong to the query around it. Such references are not supported.
func (sc *scope) analyseSubquery(stmt *sql.Select) (q *query) {
	err := catch(func() { q = sc.s.analyseQuery(stmt, sc.params, sc.subqueries) })
	if err == nil {
		return q
	}
	if o := toSQLError(err); len(sc.relations) > 0 && !o.MayBeValid && (o.Code == unknownColumn || o.Code == unknownTable && strings.Contains(o.Message, "FROM-clause entry")) {
		err = unsupported("a query in brackets that refers to the rows around it")
	}
	panic(raisedError{err})
}

// subqueryNode returns a node for the value of a query in parentheses. The query runs once,
// before the rest of the statement. With EXISTS it stops at its first row.
func (sc *scope) subqueryNode(e *sql.Sub) *node {
	q, t := sc.analyseSubquery(e.Select), sql.Bool
	if q.exists = e.Exists; !q.exists {
		raiseIf(len(q.outputs) != 1, syntaxError, "subquery must return only one column")
		t = q.outputs[0].typ
	}
	i := len(*sc.subqueries)
	*sc.subqueries = append(*sc.subqueries, q)
	return &node{typ: t, eval: func(f *frame) value { return f.r.subqueryResults[i] }}
}
