package postgres

// This file analyses and computes the aggregate functions of a query, such as count(*). A node is
// an analysed expression, and a frame holds the values with which it is evaluated.

import "github.com/locksim/locksim/servers/postgres/internal/sql"

// aggregateNames are the supported aggregate functions.
var aggregateNames = []string{"count", "max", "min"}

// aggregates are the aggregate calls found so far in the query that is being analysed.
type aggregates struct {
	all []*aggregate
	// bareColumn is the first column that the query's outputs name outside of all aggregate
	// calls, as table.column. inAggregate is true while an aggregate's argument is
	// analysed.
	bareColumn  string
	inAggregate bool
}

// An aggregate is one call of an aggregate function: a function of all rows that a query
// finds.
type aggregate struct {
	name     string
	argument *node // nil in count(*)
}

// noteColumn records that an expression refers to a column. It does nothing if a is nil.
func (a *aggregates) noteColumn(table, column string) {
	if a != nil && !a.inAggregate && a.bareColumn == "" {
		a.bareColumn = table + "." + column
	}
}

// analyseOutputs analyses the outputs of a query and returns the aggregates that they call.
func (sc *scope) analyseOutputs(q *query, stmt *sql.Select) []*aggregate {
	sc.aggregates = &aggregates{}
	defer func() { sc.aggregates = nil }()
	q.outputs = sc.analyseColumns(stmt.Outputs)
	switch {
	case len(sc.aggregates.all) == 0:
	case sc.aggregates.bareColumn != "":
		raise(newError(groupingError, "column \"%s\" must appear in the GROUP BY clause or be used in an aggregate function", sc.aggregates.bareColumn))
	case stmt.Lock.Update:
		raise(newError(notSupported, "FOR UPDATE is not allowed with aggregate functions"))
	case stmt.Order != nil:
		raise(unsupported("ORDER BY of aggregates"))
	case q.table != nil && q.table.isData():
		raise(unsupported("aggregates of a table of data"))
	}
	return sc.aggregates.all
}

// analyseAggregate analyses a call of an aggregate function.
func (sc *scope) analyseAggregate(e *sql.Call) *node {
	calls := sc.aggregates
	switch {
	case calls == nil:
		raise(newError(groupingError, "aggregate functions are not allowed here"))
	case calls.inAggregate:
		raise(newError(groupingError, "aggregate function calls cannot be nested"))
	case e.Named != nil:
		raise(unsupported("named arguments of %s", e.Name))
	case len(e.Args) != 1 && !e.Star:
		raise(markMayBeValid(newError(unknownFunction, "function %s of %d arguments does not exist", e.Name, len(e.Args))))
	}
	a, typ := &aggregate{name: e.Name}, sql.Int8
	if !e.Star {
		calls.inAggregate = true
		a.argument = sc.resolveUnknown(sc.analyse(e.Args[0]))
		calls.inAggregate = false
		if e.Name != "count" {
			switch t := a.argument.typ; t {
			case sql.Bool, sql.Bytea, sql.XID, void:
				raise(newError(unknownFunction, "function %s(%s) does not exist", e.Name, t))
			case sql.Varchar:
				a.argument = sc.coerce(a.argument, sql.Text, isImplicit, nil)
			}
			typ = a.argument.typ
		}
	}
	i := len(calls.all)
	calls.all = append(calls.all, a)
	return &node{typ: typ, eval: func(f *frame) value { return f.aggregated[i] }}
}

// aggregateRows computes the aggregates of the found rows, and returns the one row of the
// result.
func (q *query) aggregateRows(r *run, found []keptRow) []keptRow {
	r.frame.aggregated = make([]value, len(q.aggregates))
	for i, a := range q.aggregates {
		count := int64(0)
		for _, k := range found {
			if a.argument == nil {
				count++
				continue
			}
			if v := r.eval(a.argument, k.version); v != nil {
				count++
				r.frame.aggregated[i] = a.pick(r.frame.aggregated[i], v)
			}
		}
		if a.name == "count" {
			r.frame.aggregated[i] = count
		}
	}
	return []keptRow{{version: &version{}}}
}

// pick returns the greater value for max and the smaller one for min. x may be nil.
func (a *aggregate) pick(x, y value) value {
	if x == nil || a.name == "max" && compare(y, x) > 0 || a.name == "min" && compare(y, x) < 0 {
		return y
	}
	return x
}
