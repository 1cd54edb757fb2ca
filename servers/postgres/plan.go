package postgres

import (
	"cmp"
	"slices"
	"strings"

	"github.com/locksim/locksim/servers/postgres/internal/sql"
)

// plan analyses a statement. Of some parameters the client may say the types.
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

// table finds a table.
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

// exists refuses to go on with a table that was dropped meanwhile.
func (t *table) exists() {
	if t.dropped {
		raise(noRelation(t.name))
	}
}

// from has a table be the first relation of a scope.
func (sc *scope) from(src sql.Source) *table {
	t := sc.s.table(src.Table)
	sc.relations = []relation{{src.Alias, t}}
	return t
}

// condition is a WHERE; nil is none.
func (sc *scope) condition(e sql.Expr, where string) *node {
	if e == nil {
		return nil
	}
	return sc.want(sc.analyse(e), sql.Bool, where)
}

// outputs are the columns of a result.
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

// figured is what PostgreSQL calls a column without a name, and whether a cast keeps it.
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

// assigned is a value for a column; nil is the default.
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
		// Spaces that are too many are cut off, and nothing else is.
		all := []rune(v.(string))
		if len(all) > c.size && strings.TrimRight(string(all[c.size:]), " ") != "" {
			raise(fail(tooLong, "value too long for type %s(%d)", c.typ, c.size))
		}
		return string(all[:min(len(all), c.size)])
	})
}

// sets are what an update sets: a node for each column, nil for those that stay.
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

// changed is a row as an update makes it.
func (r *run) changed(set []*node, rows ...*version) []value {
	values := slices.Clone(rows[0].values)
	for i, n := range set {
		if n != nil {
			values[i] = r.eval(n, rows...)
		}
	}
	return values
}

// complete refuses a row without what it must have.
func (t *table) complete(values []value) {
	for i, c := range t.columns {
		if c.notNull && values[i] == nil {
			raise(fail(notNullViolation, "null value in column \"%s\" of relation \"%s\" violates not-null constraint", c.name, t.name))
		}
	}
}

// unique refuses a row of which there is another with the same key, but for the row itself. It
// returns the transaction that has to end before it is known whether there is; nil is none.
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

// rival is the other row with the same key, or the transaction that has to end before it is known
// whether there is one.
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
