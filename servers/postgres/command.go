package postgres

// This file executes CREATE, DROP, SET, SHOW and DEALLOCATE. A run is one execution of such a
// statement by a session.

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/locksim/locksim/servers/postgres/internal/sql"
)

// execCommand executes a statement that is neither a query nor a change of rows. The
// session itself executes BEGIN, COMMIT and ROLLBACK.
func (s *server) execCommand(r *run, statement sql.Statement) {
	b := r.b
	r.tag = statement.Tag()
	switch statement := statement.(type) {
	case *sql.CreateTable:
		s.createTable(r, statement)
	case *sql.CreateIndex:
		s.createIndex(r, statement)
	case *sql.CreateSequence:
		s.createSequence(r, statement)
	case *sql.Drop:
		s.drop(r, statement)
	case *sql.Set:
		b.set(statement)
	case *sql.Show:
		r.rows = [][]value{{b.show(statement.Name)}}
	case *sql.Deallocate:
		if statement.Name == "" {
			clear(b.statements)
			if b.client != nil {
				clear(b.client.statements)
			}
		} else if b.statements[statement.Name] == nil {
			raise(newError(unknownStatement, "prepared statement \"%s\" does not exist", statement.Name))
		}
		delete(b.statements, statement.Name)
	default:
		raise(unsupported("this statement"))
	}
}

// isDefined is called before a run creates a relation with the given name. It reports whether
// such a relation exists already. If it does, isDefined raises an error, unless the statement
// says IF NOT EXISTS. If it does not, isDefined raises an error if the run must not create one
// now.
func (s *server) isDefined(r *run, name string, ifNotExists bool) (exists bool) {
	switch {
	case !s.hasRelation(name):
		s.checkCanRedefine(r)
		return false
	case !ifNotExists:
		raise(newError(duplicateTable, "relation \"%s\" already exists", name))
	}
	r.b.sendNotice("NOTICE", duplicateTable, fmt.Sprintf("relation \"%s\" already exists, skipping", name))
	return true
}

// checkCanRedefine raises an error for CREATE and DROP in a transaction block or while
// other transactions are open. A real server would make them wait for each other, which is
// not simulated.
func (s *server) checkCanRedefine(r *run) {
	raiseUnsupportedIf(r.b.inBlock, "CREATE and DROP in a transaction block")
	raiseUnsupportedIf(slices.ContainsFunc(s.backends, func(b *backend) bool { return b.tx != nil && b != r.b }), "CREATE and DROP while other transactions are under way")
}

// noteRedefinition must be called after a change to the set of tables, indexes or
// sequences. undo reverts the change if the transaction aborts.
func (s *server) noteRedefinition(r *run, undo func()) {
	s.schemaVersion++
	r.tx.isRedefining = true
	r.tx.undo = append(r.tx.undo, func() {
		s.schemaVersion++
		undo()
	})
}

func (s *server) createTable(r *run, stmt *sql.CreateTable) {
	raiseUnsupportedIf(isServerOwned(stmt.Name), "tables whose names begin with pg_")
	if s.isDefined(r, stmt.Name, stmt.IfNotExists) {
		return
	}
	t := &table{name: stmt.Name}
	for _, c := range stmt.Columns {
		switch {
		case slices.Contains(systemColumns, c.Name):
			raise(newError(duplicateColumn, "column name \"%s\" conflicts with a system column name", c.Name))
		case t.columnNumber(c.Name) >= 0:
			raise(newError(duplicateColumn, "column \"%s\" specified more than once", c.Name))
		}
		col := column{name: c.Name, typ: c.Type, size: c.Size, notNull: c.NotNull}
		defaultExpr := c.Default
		if c.Serial {
			name := stmt.Name + "_" + c.Name + "_seq"
			s.createSequence(r, &sql.CreateSequence{Name: name})
			defaultExpr = &sql.Call{Name: "nextval", Args: []sql.Expr{&sql.Literal{Kind: sql.String, Text: name}}}
		}
		if defaultExpr != nil {
			params, subs := []sql.Type(nil), []*query(nil)
			col.defaultValue = (&scope{s: s, params: &params, subqueries: &subs}).analyseAssigned(col, defaultExpr)
			raiseUnsupportedIf(len(params) > 0 || len(subs) > 0, "parameters and queries in DEFAULT")
		}
		t.columns = append(t.columns, col)
	}
	for _, k := range stmt.Keys {
		t.addKey(k)
	}
	s.tables[t.name] = t
	s.noteRedefinition(r, func() { delete(s.tables, t.name) })
}

// addKey adds a key and gives it the name that PostgreSQL gives to unnamed keys.
func (t *table) addKey(k sql.Key) {
	added := key{name: t.name + "_" + strings.Join(k.Columns, "_") + "_key"}
	if k.Primary {
		added.name = t.name + "_pkey"
		raiseIf(slices.ContainsFunc(t.keys, func(o key) bool { return o.name == added.name }), badTableDefinition, "multiple primary keys for table \"%s\" are not allowed", t.name)
	}
	for _, name := range k.Columns {
		i := t.columnNumber(name)
		switch {
		case i < 0:
			raise(newError(unknownColumn, "column \"%s\" named in key does not exist", name))
		case slices.Contains(added.columns, i):
			raise(newError(duplicateColumn, "column \"%s\" appears twice in primary key constraint", name))
		}
		added.columns = append(added.columns, i)
		if k.Primary {
			t.columns[i].notNull = true
		}
	}
	t.keys = append(t.keys, added)
}

// hasRelation reports whether a table, a sequence or an index has the name. All three share
// one namespace.
func (s *server) hasRelation(name string) bool {
	if s.tables[name] != nil || s.sequences[name] != nil {
		return true
	}
	for _, t := range s.tables {
		if slices.Contains(t.indexes, name) || slices.ContainsFunc(t.keys, func(k key) bool { return k.name == name }) {
			return true
		}
	}
	return false
}

// createIndex adds an index. Only a unique index has an effect, because others do not
// change any result.
func (s *server) createIndex(r *run, stmt *sql.CreateIndex) {
	t := s.table(stmt.Table)
	added := key{name: stmt.Name}
	for _, name := range stmt.Columns {
		i := t.columnNumber(name)
		raiseIf(i < 0, unknownColumn, "column \"%s\" does not exist", name)
		added.columns = append(added.columns, i)
	}
	if added.name == "" {
		baseName := t.name + "_" + strings.Join(stmt.Columns, "_") + "_idx"
		added.name = baseName
		for n := 1; s.hasRelation(added.name); n++ {
			added.name = baseName + strconv.Itoa(n)
		}
	}
	if s.isDefined(r, added.name, stmt.IfNotExists) {
		return
	}
	keys, indexes := t.keys, t.indexes
	if stmt.Unique {
		for _, v := range t.visibleVersions(r.tx, r.snapshot) {
			raiseIf(t.findConflict(added, v.values, r.tx, v.row) != nil, uniqueViolation, "could not create unique index \"%s\"", added.name)
		}
		t.keys = append(slices.Clone(keys), added)
	} else {
		t.indexes = append(slices.Clone(indexes), added.name)
	}
	s.noteRedefinition(r, func() { t.keys, t.indexes = keys, indexes })
}

func (s *server) createSequence(r *run, stmt *sql.CreateSequence) {
	if s.isDefined(r, stmt.Name, stmt.IfNotExists) {
		return
	}
	if stmt.Table != "" {
		t := s.tables[stmt.Table]
		if t == nil {
			raise(noRelation(stmt.Table))
		}
		raiseIf(t.columnNumber(stmt.Column) < 0, unknownColumn, "column \"%s\" of relation \"%s\" does not exist", stmt.Column, stmt.Table)
	}
	s.sequences[stmt.Name] = &sequence{name: stmt.Name, table: stmt.Table}
	s.noteRedefinition(r, func() { delete(s.sequences, stmt.Name) })
}

// sequence returns the sequence with the name, or raises an error.
func (s *server) sequence(name string) *sequence {
	name = strings.TrimPrefix(name, "public.")
	switch {
	case s.sequences[name] != nil:
	case isServerOwned(name):
		raise(unsupported("the relation %s", name))
	case s.hasRelation(name):
		raise(newError(wrongObjectType, "\"%s\" is not a sequence", name))
	default:
		raise(noRelation(name))
	}
	return s.sequences[name]
}

// noRelation returns the error for a name that no relation has.
func noRelation(name string) error {
	return newError(unknownTable, "relation \"%s\" does not exist", name)
}

func (s *server) drop(r *run, stmt *sql.Drop) {
	t, q := s.tables[stmt.Name], s.sequences[stmt.Name]
	switch exists := stmt.What == "table" && t != nil || stmt.What == "sequence" && q != nil; {
	case isServerOwned(stmt.Name):
		raise(unsupported("DROP of the server's own relations"))
	case !exists && s.hasRelation(stmt.Name):
		raise(newError(wrongObjectType, "\"%s\" is not a %s", stmt.Name, stmt.What))
	case !exists && stmt.IfExists:
		r.b.sendNotice("NOTICE", "00000", fmt.Sprintf("%s \"%s\" does not exist, skipping", stmt.What, stmt.Name))
		return
	case !exists:
		raise(newError(unknownTable, "%s \"%s\" does not exist", stmt.What, stmt.Name))
	}
	s.checkCanRedefine(r)
	if stmt.What == "sequence" {
		delete(s.sequences, stmt.Name)
		s.noteRedefinition(r, func() { s.sequences[stmt.Name] = q })
		return
	}
	// The sequences of the table's serial columns, and those that its columns own, are dropped
	// with it.
	owned := map[string]bool{}
	for _, c := range t.columns {
		owned[t.name+"_"+c.name+"_seq"] = true
	}
	for _, name := range slices.Sorted(maps.Keys(s.sequences)) {
		if q := s.sequences[name]; owned[name] || q.table == t.name {
			delete(s.sequences, name)
			s.noteRedefinition(r, func() { s.sequences[name] = q })
		}
	}
	delete(s.tables, stmt.Name)
	t.isDropped = true
	s.noteRedefinition(r, func() { s.tables[stmt.Name], t.isDropped = t, false })
}
