package postgres

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/locksim/locksim/servers/postgres/internal/sql"
)

// execCommand executes a statement that is neither a query nor a change of rows. The
// session itself executes BEGIN, COMMIT and ROLLBACK.
func (s *server) command(r *run, of sql.Statement) {
	b := r.b
	r.tag = of.Tag()
	switch of := of.(type) {
	case *sql.CreateTable:
		s.createTable(r, of)
	case *sql.CreateIndex:
		s.createIndex(r, of)
	case *sql.CreateSequence:
		s.createSequence(r, of.Name, of.IfNotExists)
	case *sql.Drop:
		s.drop(r, of)
	case *sql.Set:
		b.set(of)
	case *sql.Show:
		r.rows = [][]value{{b.show(of.Name)}}
	case *sql.Deallocate:
		if of.Name == "" {
			clear(b.statements)
			if b.on != nil {
				clear(b.on.statements)
			}
		} else if b.statements[of.Name] == nil {
			raise(fail(unknownStatement, "prepared statement \"%s\" does not exist", of.Name))
		}
		delete(b.statements, of.Name)
	default:
		raise(without("this statement"))
	}
}

// isDefined reports whether a relation with the name exists already, before a run creates
// one. It raises an error if so, unless the statement says IF NOT EXISTS.
func (s *server) defines(r *run, name string, ifNotExists bool) (there bool) {
	switch {
	case !s.called(name):
		s.redefines(r)
		return false
	case !ifNotExists:
		raise(fail(duplicateTable, "relation \"%s\" already exists", name))
	}
	r.b.notice("NOTICE", duplicateTable, fmt.Sprintf("relation \"%s\" already exists, skipping", name))
	return true
}

// checkCanRedefine refuses CREATE and DROP in a transaction block or while other
// transactions are open. A real server would make them wait for each other.
func (s *server) redefines(r *run) {
	lack(r.b.block, "CREATE and DROP in a transaction block")
	lack(slices.ContainsFunc(s.backends, func(b *backend) bool { return b.tx != nil && b != r.b }), "CREATE and DROP while other transactions are under way")
}

// redefined must be called after a change to the set of tables, indexes or sequences. undo
// reverts the change.
func (s *server) did(r *run, undo func()) {
	s.changes++
	r.tx.defines = true
	r.tx.undo = append(r.tx.undo, func() {
		s.changes++
		undo()
	})
}

func (s *server) createTable(r *run, of *sql.CreateTable) {
	lack(owned(of.Name), "tables whose names begin with pg_")
	if s.defines(r, of.Name, of.IfNotExists) {
		return
	}
	t := &table{name: of.Name}
	for _, c := range of.Columns {
		switch {
		case slices.Contains(systemColumns, c.Name):
			raise(fail(duplicateColumn, "column name \"%s\" conflicts with a system column name", c.Name))
		case t.numberOf(c.Name) >= 0:
			raise(fail(duplicateColumn, "column \"%s\" specified more than once", c.Name))
		}
		col := column{name: c.Name, typ: c.Type, size: c.Size, notNull: c.NotNull}
		e := c.Default
		if c.Serial {
			name := of.Name + "_" + c.Name + "_seq"
			s.createSequence(r, name, false)
			e = &sql.Call{Name: "nextval", Args: []sql.Expr{&sql.Literal{Kind: sql.String, Text: name}}}
		}
		if e != nil {
			params, subs := []sql.Type(nil), []*query(nil)
			col.byItself = (&scope{s: s, params: &params, subs: &subs}).assigned(col, e)
			lack(len(params) > 0 || len(subs) > 0, "parameters and queries in DEFAULT")
		}
		t.columns = append(t.columns, col)
	}
	for _, k := range of.Keys {
		t.addKey(k)
	}
	s.tables[t.name] = t
	s.did(r, func() { delete(s.tables, t.name) })
}

// addKey adds a key and gives it the name that PostgreSQL gives to unnamed keys.
func (t *table) addKey(k sql.Key) {
	one := key{name: t.name + "_" + strings.Join(k.Columns, "_") + "_key"}
	if k.Primary {
		one.name = t.name + "_pkey"
		refuse(slices.ContainsFunc(t.keys, func(o key) bool { return o.name == one.name }), badTableDefinition, "multiple primary keys for table \"%s\" are not allowed", t.name)
	}
	for _, name := range k.Columns {
		i := t.numberOf(name)
		switch {
		case i < 0:
			raise(fail(unknownColumn, "column \"%s\" named in key does not exist", name))
		case slices.Contains(one.columns, i):
			raise(fail(duplicateColumn, "column \"%s\" appears twice in primary key constraint", name))
		}
		one.columns = append(one.columns, i)
		if k.Primary {
			t.columns[i].notNull = true
		}
	}
	t.keys = append(t.keys, one)
}

// hasRelation reports whether a table, a sequence or an index has the name. They share one
// namespace.
func (s *server) called(name string) bool {
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

// createIndex adds an index. Only a unique index has an effect: others do not change any
// result.
func (s *server) createIndex(r *run, of *sql.CreateIndex) {
	t := s.table(of.Table)
	one := key{name: of.Name}
	for _, name := range of.Columns {
		i := t.numberOf(name)
		refuse(i < 0, unknownColumn, "column \"%s\" does not exist", name)
		one.columns = append(one.columns, i)
	}
	if one.name == "" {
		first := t.name + "_" + strings.Join(of.Columns, "_") + "_idx"
		one.name = first
		for n := 1; s.called(one.name); n++ {
			one.name = first + strconv.Itoa(n)
		}
	}
	if s.defines(r, one.name, of.IfNotExists) {
		return
	}
	keys, indexes := t.keys, t.indexes
	if of.Unique {
		for _, v := range t.visible(r.tx, r.snapshot) {
			refuse(t.same(one, v.values, r.tx, v.row) != nil, uniqueViolation, "could not create unique index \"%s\"", one.name)
		}
		t.keys = append(slices.Clone(keys), one)
	} else {
		t.indexes = append(slices.Clone(indexes), one.name)
	}
	s.did(r, func() { t.keys, t.indexes = keys, indexes })
}

func (s *server) createSequence(r *run, name string, ifNotExists bool) {
	if s.defines(r, name, ifNotExists) {
		return
	}
	s.sequences[name] = &sequence{name: name}
	s.did(r, func() { delete(s.sequences, name) })
}

// sequence returns the sequence with the name, or raises an error.
func (s *server) sequence(name string) *sequence {
	name = strings.TrimPrefix(name, "public.")
	switch {
	case s.sequences[name] != nil:
	case owned(name):
		raise(without("the relation %s", name))
	case s.called(name):
		raise(fail(wrongObjectType, "\"%s\" is not a sequence", name))
	default:
		raise(noRelation(name))
	}
	return s.sequences[name]
}

// noRelation returns the error for a name that no relation has.
func noRelation(name string) error {
	return fail(unknownTable, "relation \"%s\" does not exist", name)
}

func (s *server) drop(r *run, of *sql.Drop) {
	t, q := s.tables[of.Name], s.sequences[of.Name]
	switch there := of.What == "table" && t != nil || of.What == "sequence" && q != nil; {
	case owned(of.Name):
		raise(without("DROP of the server's own relations"))
	case !there && s.called(of.Name):
		raise(fail(wrongObjectType, "\"%s\" is not a %s", of.Name, of.What))
	case !there && of.IfExists:
		r.b.notice("NOTICE", "00000", fmt.Sprintf("%s \"%s\" does not exist, skipping", of.What, of.Name))
		return
	case !there:
		raise(fail(unknownTable, "%s \"%s\" does not exist", of.What, of.Name))
	}
	s.redefines(r)
	if of.What == "sequence" {
		delete(s.sequences, of.Name)
		s.did(r, func() { s.sequences[of.Name] = q })
		return
	}
	// The sequences of the table's serial columns are dropped with it.
	for _, c := range t.columns {
		name := t.name + "_" + c.name + "_seq"
		if own := s.sequences[name]; own != nil {
			delete(s.sequences, name)
			s.did(r, func() { s.sequences[name] = own })
		}
	}
	delete(s.tables, of.Name)
	t.dropped = true
	s.did(r, func() { s.tables[of.Name], t.dropped = t, false })
}
