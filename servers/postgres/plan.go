package postgres

// This file analyses statements. The analysis of a statement returns a plan, and the
// analysis of an expression returns a node. Both raise an error if the statement is wrong.
// The funcs that analyse belong to a scope, which knows the names in the statement.

import (
	"cmp"
	"slices"
	"strings"

	"github.com/locksim/locksim/servers/postgres/internal/sql"
)

// planStatement analyses a statement. params are the parameter types that the client has
// given. The other types are inferred.
func (s *server) planStatement(text string, stmt sql.Statement, params []sql.Type) *plan {
	p := &plan{text: text, statement: stmt, params: slices.Clone(params), schemaVersion: s.schemaVersion}
	s.analyseStatement(p, &scope{s: s, params: &p.params, subqueries: &p.subqueries})
	if i := slices.Index(p.params, unknown); i >= 0 {
		raise(newError(indeterminateType, "could not determine data type of parameter $%d", i+1))
	}
	return p
}

// analyseStatement completes a plan with what its statement does.
func (s *server) analyseStatement(p *plan, sc *scope) {
	stmt := p.statement
	switch stmt := stmt.(type) {
	case *sql.Select:
		q := s.analyseQuery(stmt, sc.params, sc.subqueries)
		p.outputs, p.carryOut = q.outputs, q.carryOut
		return
	case *sql.Insert:
		s.planInsert(p, sc, stmt)
		return
	case *sql.Update:
		s.planUpdate(p, sc, stmt)
		return
	case *sql.Delete:
		s.planDelete(p, sc, stmt)
		return
	case *sql.Show:
		p.outputs = []output{{name: cmp.Or(spellings[stmt.Name], stmt.Name), typ: sql.Text}}
	}
	p.carryOut = func(r *run) { s.execCommand(r, stmt) }
}

// table returns the table with the name, or raises an error.
func (s *server) table(name string) *table {
	switch {
	case s.tables[name] != nil:
	case isServerOwned(name):
		raise(unsupported("the relation %s", name))
	case s.sequences[name] != nil:
		raise(unsupported("a sequence as a table"))
	case s.hasRelation(name):
		raise(unsupported("an index as a table"))
	default:
		raise(noRelation(name))
	}
	return s.tables[name]
}

// checkExists raises an error if the table was dropped while the statement waited.
func (t *table) checkExists() {
	if t.isDropped {
		raise(noRelation(t.name))
	}
}

// bindTable makes a table the first relation of a scope.
func (sc *scope) bindTable(src sql.Source) *table {
	t := sc.s.table(src.Table)
	sc.relations = []relation{{src.Alias, t}}
	return t
}

// analyseCondition analyses a condition; it returns nil for nil. where names the clause for
// errors.
func (sc *scope) analyseCondition(e sql.Expr, where string) *node {
	if e == nil {
		return nil
	}
	return sc.require(sc.analyse(e), sql.Bool, where)
}

// analyseColumns analyses the columns of a result.
func (sc *scope) analyseColumns(selected []sql.Output) []output {
	var outs []output
	for _, o := range selected {
		if o.Expr == nil {
			raiseIf(len(sc.relations) == 0, syntaxError, "SELECT * with no tables specified is not valid")
			if v := sc.relations[0].table.view; v != nil && len(v.missingColumns) > 0 {
				raise(unsupported("all columns of %s", sc.relations[0].table.name))
			}
			for _, c := range sc.relations[0].table.columns {
				outs = append(outs, output{c.name, c.typ, sc.analyseRef(&sql.Ref{Table: sc.relations[0].alias, Column: c.name})})
			}
			continue
		}
		n := sc.resolveUnknown(sc.analyse(o.Expr))
		name := o.Name
		if name == "" {
			name, _ = defaultName(o.Expr)
		}
		outs = append(outs, output{name, n.typ, n})
	}
	return outs
}

// defaultName returns the name that PostgreSQL gives to a result column without a name.
// survivesCast reports whether a cast of the expression keeps that name.
func defaultName(e sql.Expr) (name string, survivesCast bool) {
	switch e := e.(type) {
	case *sql.Ref:
		return e.Column, true
	case *sql.Call:
		return e.Name, true
	case *sql.Case:
		return "case", false
	case *sql.Cast:
		if name, survivesCast := defaultName(e.X); survivesCast {
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
			return defaultName(o.Expr)
		}
	}
	return "?column?", false
}

// analyseAssigned analyses the value that is assigned to a column. A nil expression means
// the column's default.
func (sc *scope) analyseAssigned(c column, e sql.Expr) *node {
	if e == nil {
		if c.defaultValue == nil {
			return constant(nil, c.typ)
		}
		return c.defaultValue
	}
	n := sc.analyse(e)
	n = sc.coerce(n, c.typ, isAssignable, newError(typeMismatch, "column \"%s\" is of type %s but expression is of type %s", c.name, c.typ, n.typ))
	if c.size == 0 {
		return n
	}
	return strict(n, c.typ, func(v value) value {
		// Only trailing spaces may exceed the size; they are cut off.
		all := []rune(v.(string))
		if len(all) > c.size && strings.TrimRight(string(all[c.size:]), " ") != "" {
			raise(newError(tooLong, "value too long for type %s(%d)", c.typ, c.size))
		}
		return string(all[:min(len(all), c.size)])
	})
}

// setNodes analyses the SET of an update. It returns a node for each column of the table;
// nil means that the column does not change.
func (sc *scope) setNodes(t *table, assignments []sql.Assign) []*node {
	set := make([]*node, len(t.columns))
	for _, a := range assignments {
		i := t.columnNumber(a.Column)
		switch {
		case slices.Contains(systemColumns, a.Column):
			raise(newError(notSupported, "cannot assign to system column \"%s\"", a.Column))
		case i < 0:
			raise(newError(unknownColumn, "column \"%s\" of relation \"%s\" does not exist", a.Column, t.name))
		case set[i] != nil:
			raise(newError(syntaxError, "multiple assignments to same column \"%s\"", a.Column))
		}
		set[i] = sc.analyseAssigned(t.columns[i], a.Expr)
	}
	return set
}

// updatedValues returns the values of a row after an update. rows are the versions with
// which the new values are computed; the first is the row itself.
func (r *run) updatedValues(set []*node, rows ...*version) []value {
	values := slices.Clone(rows[0].values)
	for i, n := range set {
		if n != nil {
			values[i] = r.eval(n, rows...)
		}
	}
	return values
}

// checkNotNull raises an error if a value is NULL in a column that is NOT NULL.
func (t *table) checkNotNull(values []value) {
	for i, c := range t.columns {
		if c.notNull && values[i] == nil {
			raise(newError(notNullViolation, "null value in column \"%s\" of relation \"%s\" violates not-null constraint", c.name, t.name))
		}
	}
}

// checkUnique raises an error if a row other than self has the same key. If the outcome of another
// open transaction decides whether there is such a row, checkUnique returns that transaction as
// busy instead.
func (r *run) checkUnique(t *table, values []value, self *row) (busy *tx) {
	for _, k := range t.keys {
		switch v, busy := r.keyConflict(t, k, values, self); {
		case busy != nil:
			return busy
		case v != nil:
			raise(newError(uniqueViolation, "duplicate key value violates unique constraint \"%s\"", k.name))
		}
	}
	return nil
}

// keyConflict returns the current version of a row other than self that has the same key, or nil.
// If the outcome of another open transaction decides whether there is such a row, it returns that
// transaction instead.
func (r *run) keyConflict(t *table, k key, values []value, self *row) (*version, *tx) {
	v := t.findConflict(k, values, r.tx, self)
	switch {
	case v == nil:
	case v.createdBy != r.tx && v.createdBy.state == running:
		return nil, v.createdBy
	case v.endedBy != nil && v.endedBy.state == running:
		return nil, v.endedBy
	}
	return v, nil
}
