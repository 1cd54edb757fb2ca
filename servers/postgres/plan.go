package postgres

import (
	"cmp"
	"slices"
	"strings"

	"github.com/locksim/locksim/servers/postgres/internal/sql"
)

// plan analyses a statement. params are the parameter types that the client has given;
// others are inferred.
func (s *server) plan(text string, of sql.Statement, params []sql.Type) *plan {
	p := &plan{text: text, of: of, params: slices.Clone(params), made: s.changes}
	s.planned(p, &scope{s: s, params: &p.params, subs: &p.subs})
	if i := slices.Index(p.params, unknown); i >= 0 {
		raise(fail(indeterminateType, "could not determine data type of parameter $%d", i+1))
	}
	return p
}

func (s *server) planned(p *plan, sc *scope) {
	of := p.of
	switch of := of.(type) {
	case *sql.Select:
		q := s.query(of, sc.params, sc.subs)
		p.outputs, p.carryOut = q.outputs, q.carryOut
		return
	case *sql.Insert:
		s.planInsert(p, sc, of)
		return
	case *sql.Update:
		s.planUpdate(p, sc, of)
		return
	case *sql.Delete:
		s.planDelete(p, sc, of)
		return
	case *sql.Show:
		p.outputs = []output{{name: cmp.Or(spellings[of.Name], of.Name), typ: sql.Text}}
	}
	p.carryOut = func(r *run) { s.command(r, of) }
}

// table returns the table with the name, or raises an error.
func (s *server) table(name string) *table {
	switch {
	case s.tables[name] != nil:
	case owned(name):
		raise(without("the relation %s", name))
	case s.sequences[name] != nil:
		raise(without("a sequence as a table"))
	case s.called(name):
		raise(without("an index as a table"))
	default:
		raise(noRelation(name))
	}
	return s.tables[name]
}

// checkExists raises an error if the table was dropped while the statement waited.
func (t *table) exists() {
	if t.dropped {
		raise(noRelation(t.name))
	}
}

// bindTable makes a table the first relation of a scope.
func (sc *scope) from(src sql.Source) *table {
	t := sc.s.table(src.Table)
	sc.relations = []relation{{src.Alias, t}}
	return t
}

// condition analyses a condition; nil stays nil. where names the clause for errors.
func (sc *scope) condition(e sql.Expr, where string) *node {
	if e == nil {
		return nil
	}
	return sc.want(sc.analyse(e), sql.Bool, where)
}

// outputs analyses the columns of a result.
func (sc *scope) outputs(of []sql.Output) []output {
	var outs []output
	for _, o := range of {
		if o.Expr == nil {
			refuse(len(sc.relations) == 0, syntaxError, "SELECT * with no tables specified is not valid")
			if v := sc.relations[0].table.view; v != nil && len(v.lacks) > 0 {
				raise(without("all columns of %s", sc.relations[0].table.name))
			}
			for _, c := range sc.relations[0].table.columns {
				outs = append(outs, output{c.name, c.typ, sc.ref(&sql.Ref{Table: sc.relations[0].alias, Column: c.name})})
			}
			continue
		}
		n := sc.settled(sc.analyse(o.Expr))
		name := o.Name
		if name == "" {
			name, _ = figured(o.Expr)
		}
		outs = append(outs, output{name, n.typ, n})
	}
	return outs
}

// defaultName returns PostgreSQL's name for a column without one. stays reports whether a
// cast of the expression keeps that name.
func figured(e sql.Expr) (name string, stays bool) {
	switch e := e.(type) {
	case *sql.Ref:
		return e.Column, true
	case *sql.Call:
		return e.Name, true
	case *sql.Case:
		return "case", false
	case *sql.Cast:
		if name, stays := figured(e.X); stays {
			return name, true
		}
		return types[e.Type].short, false
	case *sql.Sub:
		switch o := e.Select.Outputs[0]; {
		case e.Exists:
			return "exists", true
		case o.Name != "":
			return o.Name, true
		case o.Expr != nil:
			return figured(o.Expr)
		}
	}
	return "?column?", false
}

// assigned analyses a value for a column; nil is the column's default.
func (sc *scope) assigned(c column, e sql.Expr) *node {
	if e == nil {
		if c.byItself == nil {
			return constant(nil, c.typ)
		}
		return c.byItself
	}
	n := sc.analyse(e)
	n = sc.as(n, c.typ, assignable, fail(typeMismatch, "column \"%s\" is of type %s but expression is of type %s", c.name, c.typ, n.typ))
	if c.size == 0 {
		return n
	}
	return strict(n, c.typ, func(v value) value {
		// Only trailing spaces may exceed the size; they are cut off.
		all := []rune(v.(string))
		if len(all) > c.size && strings.TrimRight(string(all[c.size:]), " ") != "" {
			raise(fail(tooLong, "value too long for type %s(%d)", c.typ, c.size))
		}
		return string(all[:min(len(all), c.size)])
	})
}

// setNodes analyses the SET of an update. It returns a node for each column, nil for
// unchanged ones.
func (sc *scope) sets(t *table, all []sql.Assign) []*node {
	set := make([]*node, len(t.columns))
	for _, a := range all {
		i := t.numberOf(a.Column)
		switch {
		case slices.Contains(systemColumns, a.Column):
			raise(fail(notSupported, "cannot assign to system column \"%s\"", a.Column))
		case i < 0:
			raise(fail(unknownColumn, "column \"%s\" of relation \"%s\" does not exist", a.Column, t.name))
		case set[i] != nil:
			raise(fail(syntaxError, "multiple assignments to same column \"%s\"", a.Column))
		}
		set[i] = sc.assigned(t.columns[i], a.Expr)
	}
	return set
}

// updatedValues returns the values of a row after an update.
func (r *run) changed(set []*node, rows ...*version) []value {
	values := slices.Clone(rows[0].values)
	for i, n := range set {
		if n != nil {
			values[i] = r.eval(n, rows...)
		}
	}
	return values
}

// checkNotNull raises an error if a NOT NULL column is NULL.
func (t *table) complete(values []value) {
	for i, c := range t.columns {
		if c.notNull && values[i] == nil {
			raise(fail(notNullViolation, "null value in column \"%s\" of relation \"%s\" violates not-null constraint", c.name, t.name))
		}
	}
}

// checkUnique raises an error if a row other than self has the same key. If that depends on
// a transaction that has not ended, it returns the transaction instead.
func (r *run) unique(t *table, values []value, self *row) (busy *tx) {
	for _, k := range t.keys {
		switch v, busy := r.rival(t, k, values, self); {
		case busy != nil:
			return busy
		case v != nil:
			raise(fail(uniqueViolation, "duplicate key value violates unique constraint \"%s\"", k.name))
		}
	}
	return nil
}

// keyConflict returns the current version of another row with the same key, or nil. If that
// depends on a transaction that has not ended, it returns the transaction instead.
func (r *run) rival(t *table, k key, values []value, self *row) (*version, *tx) {
	v := t.same(k, values, r.tx, self)
	switch {
	case v == nil:
	case v.by != r.tx && v.by.state == running:
		return nil, v.by
	case v.over != nil && v.over.state == running:
		return nil, v.over
	}
	return v, nil
}
