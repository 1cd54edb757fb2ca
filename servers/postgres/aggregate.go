package postgres

import "github.com/locksim/locksim/servers/postgres/internal/sql"

// aggregateNames are those of the functions of many rows.
var aggregateNames = []string{"count", "max", "min"}

// aggregates are those of one query.
type aggregates struct {
	all []*aggregate
	// bare is the first column that stands in none of them; inside says that one is analysed.
	bare   string
	inside bool
}

// An aggregate is a function of all rows that a query finds.
type aggregate struct {
	name string
	of   *node // nil: of the rows themselves
}

// refers notes that a column is referred to.
func (a *aggregates) refers(table, column string) {
	if a != nil && !a.inside && a.bare == "" {
		a.bare = table + "." + column
	}
}

// aggregated analyses the outputs of a query, which may have aggregates.
func (sc *scope) aggregated(q *query, of *sql.Select) ([]*aggregate, error) {
	sc.aggregates = &aggregates{}
	defer func() { sc.aggregates = nil }()
	var err error
	if q.outputs, err = sc.outputs(of.Outputs); err != nil {
		return nil, err
	}
	switch {
	case len(sc.aggregates.all) == 0:
		return nil, nil
	case sc.aggregates.bare != "":
		return nil, fail(groupingError, "column \"%s\" must appear in the GROUP BY clause or be used in an aggregate function", sc.aggregates.bare)
	case of.Lock.Update:
		return nil, fail(notSupported, "FOR UPDATE is not allowed with aggregate functions")
	case of.Order != nil:
		return nil, without("ORDER BY of aggregates")
	case q.table != nil && q.table.isData():
		return nil, without("aggregates of a table of data")
	}
	return sc.aggregates.all, nil
}

// aggregate is a call of one.
func (sc *scope) aggregate(e *sql.Call) (*node, error) {
	in := sc.aggregates
	switch {
	case in == nil:
		return nil, fail(groupingError, "aggregate functions are not allowed here")
	case in.inside:
		return nil, fail(groupingError, "aggregate function calls cannot be nested")
	case e.Named != nil:
		return nil, without("named arguments of %s", e.Name)
	case len(e.Args) != 1 && !e.Star:
		return nil, asOurs(fail(unknownFunction, "function %s of %d arguments does not exist", e.Name, len(e.Args)))
	}
	a, typ := &aggregate{name: e.Name}, sql.Int8
	if !e.Star {
		in.inside = true
		n, err := sc.analyse(e.Args[0])
		in.inside = false
		if err == nil {
			n, err = sc.settled(n)
		}
		switch {
		case err != nil:
			return nil, err
		case e.Name != "count" && (n.typ == sql.Bool || n.typ == sql.Bytea || n.typ == sql.XID || n.typ == void):
			return nil, fail(unknownFunction, "function %s(%s) does not exist", e.Name, n.typ)
		case e.Name != "count" && n.typ == sql.Varchar:
			n, err = sc.as(n, sql.Text, implicit, nil)
		}
		if err != nil {
			return nil, err
		}
		if a.of = n; e.Name != "count" {
			typ = n.typ
		}
	}
	i := len(in.all)
	in.all = append(in.all, a)
	return &node{typ: typ, eval: func(f *frame) (value, error) { return f.aggregated[i], nil }}, nil
}

// sum has the rows that were found be one, of which the aggregates are known.
func (x *selecting) sum(r *run) error {
	r.frame.aggregated = make([]value, len(x.aggregates))
	for i, a := range x.aggregates {
		n := int64(0)
		for _, k := range x.kept {
			if a.of == nil {
				n++
				continue
			}
			v, err := r.eval(a.of, k.version)
			if err != nil {
				return err
			}
			if v != nil {
				n++
				r.frame.aggregated[i] = a.picks(r.frame.aggregated[i], v)
			}
			r.next()
		}
		if a.name == "count" {
			r.frame.aggregated[i] = n
		}
	}
	x.kept, x.summed = []keptRow{{version: &version{}}}, true
	return nil
}

// picks is the greater or the smaller of two values, of which the first may be none yet.
func (a *aggregate) picks(one, other value) value {
	if one == nil || a.name == "max" && compare(other, one) > 0 || a.name == "min" && compare(other, one) < 0 {
		return other
	}
	return one
}
