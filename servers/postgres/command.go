package postgres

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/servers/postgres/internal/sql"
)

// command is the execution of what is no query and changes no rows. BEGIN and its like are
// done by the session.
type command struct{ of sql.Statement }

func (c command) step(r *run) error {
	s, b := r.b.s, r.b
	switch of := c.of.(type) {
	case *sql.CreateTable:
		r.tag = "CREATE TABLE"
		return s.createTable(r, of)
	case *sql.CreateIndex:
		r.tag = "CREATE INDEX"
		return s.createIndex(r, of)
	case *sql.CreateSequence:
		r.tag = "CREATE SEQUENCE"
		return s.createSequence(r, of.Name, of.IfNotExists)
	case *sql.Drop:
		r.tag = "DROP " + upper(of.What)
		return s.drop(r, of)
	case *sql.Set:
		r.tag = "SET"
		if of.Reset {
			r.tag = "RESET"
		}
		return b.set(of)
	case *sql.Show:
		r.tag = "SHOW"
		text, err := b.show(of.Name)
		r.rows = [][]value{{text}}
		return err
	case *sql.Deallocate:
		r.tag = "DEALLOCATE"
		if of.Name == "" {
			r.tag = "DEALLOCATE ALL"
			clear(b.statements)
			if b.on != nil {
				clear(b.on.statements)
			}
		} else if b.statements[of.Name] == nil {
			return fail(unknownStatement, "prepared statement \"%s\" does not exist", of.Name)
		}
		delete(b.statements, of.Name)
		return nil
	}
	return without("this statement")
}

// defines says that a run may make something of a name, unless there is something of that name.
func (s *server) defines(r *run, name string, ifNotExists bool) (there bool, err error) {
	switch {
	case !s.called(name):
		return false, s.redefines(r)
	case !ifNotExists:
		return true, fail(duplicateTable, "relation \"%s\" already exists", name)
	}
	r.b.notice("NOTICE", duplicateTable, fmt.Sprintf("relation \"%s\" already exists, skipping", name))
	return true, nil
}

// redefines says that a run may change what tables there are: not in a transaction of several
// statements, where others would have to wait for it to end.
func (s *server) redefines(r *run) error {
	if r.b.block {
		return without("CREATE and DROP in a transaction block")
	}
	for _, b := range s.backends {
		if b.tx != nil && b != r.b {
			return without("CREATE and DROP while other transactions are under way")
		}
	}
	return nil
}

// did is to be called when what there is has changed, with how to take it back.
func (s *server) did(r *run, undo func()) {
	s.changes++
	r.tx.defines = true
	r.tx.undo = append(r.tx.undo, func() {
		s.changes++
		undo()
	})
}

func (s *server) createTable(r *run, of *sql.CreateTable) error {
	if owned(of.Name) {
		return without("tables whose names begin with pg_")
	}
	if there, err := s.defines(r, of.Name, of.IfNotExists); there || err != nil {
		return err
	}
	t := &table{name: of.Name}
	for _, c := range of.Columns {
		switch {
		case slices.Contains(systemColumns, c.Name):
			return fail(duplicateColumn, "column name \"%s\" conflicts with a system column name", c.Name)
		case t.numberOf(c.Name) >= 0:
			return fail(duplicateColumn, "column \"%s\" specified more than once", c.Name)
		}
		col := column{name: c.Name, typ: c.Type, size: c.Size, notNull: c.NotNull}
		e := c.Default
		if c.Serial {
			name := of.Name + "_" + c.Name + "_seq"
			if err := s.createSequence(r, name, false); err != nil {
				return err
			}
			e = &sql.Call{Name: "nextval", Args: []sql.Expr{&sql.Literal{Kind: sql.String, Text: name}}}
		}
		if e != nil {
			params, subs := []sql.Type(nil), []*query(nil)
			if err := caught(func() { col.byItself = (&scope{s: s, params: &params, subs: &subs}).assigned(col, e) }); err != nil {
				return err
			}
			if len(params) > 0 || len(subs) > 0 {
				return without("parameters and queries in DEFAULT")
			}
		}
		t.columns = append(t.columns, col)
	}
	for _, k := range of.Keys {
		if err := t.addKey(k); err != nil {
			return err
		}
	}
	s.tables[t.name] = t
	s.did(r, func() { delete(s.tables, t.name) })
	return nil
}

// addKey adds a key, which is called as PostgreSQL calls those without a name.
func (t *table) addKey(k sql.Key) error {
	one := key{name: t.name + "_" + strings.Join(k.Columns, "_") + "_key"}
	if k.Primary {
		one.name = t.name + "_pkey"
		if slices.ContainsFunc(t.keys, func(o key) bool { return o.name == one.name }) {
			return fail(badTableDefinition, "multiple primary keys for table \"%s\" are not allowed", t.name)
		}
	}
	for _, name := range k.Columns {
		i := t.numberOf(name)
		switch {
		case i < 0:
			return fail(unknownColumn, "column \"%s\" named in key does not exist", name)
		case slices.Contains(one.columns, i):
			return fail(duplicateColumn, "column \"%s\" appears twice in primary key constraint", name)
		}
		one.columns = append(one.columns, i)
		if k.Primary {
			t.columns[i].notNull = true
		}
	}
	t.keys = append(t.keys, one)
	return nil
}

func (s *server) createSequence(r *run, name string, ifNotExists bool) error {
	if there, err := s.defines(r, name, ifNotExists); there || err != nil {
		return err
	}
	s.sequences[name] = &sequence{name: name}
	s.did(r, func() { delete(s.sequences, name) })
	return nil
}

// sequence finds a sequence.
func (s *server) sequence(name string) (*sequence, error) {
	name = strings.TrimPrefix(name, "public.")
	if q := s.sequences[name]; q != nil {
		return q, nil
	}
	if owned(name) {
		return nil, without("the relation %s", name)
	}
	if s.called(name) {
		return nil, fail(wrongObjectType, "\"%s\" is not a sequence", name)
	}
	return nil, fail(unknownTable, "relation \"%s\" does not exist", name)
}

func (s *server) drop(r *run, of *sql.Drop) error {
	t, q := s.tables[of.Name], s.sequences[of.Name]
	switch there := of.What == "table" && t != nil || of.What == "sequence" && q != nil; {
	case owned(of.Name):
		return without("DROP of the server's own relations")
	case !there && s.called(of.Name):
		return fail(wrongObjectType, "\"%s\" is not a %s", of.Name, of.What)
	case !there && of.IfExists:
		r.b.notice("NOTICE", "00000", fmt.Sprintf("%s \"%s\" does not exist, skipping", of.What, of.Name))
		return nil
	case !there:
		return fail(unknownTable, "%s \"%s\" does not exist", of.What, of.Name)
	}
	if err := s.redefines(r); err != nil {
		return err
	}
	if of.What == "sequence" {
		delete(s.sequences, of.Name)
		s.did(r, func() { s.sequences[of.Name] = q })
		return nil
	}
	// The sequences of its own columns go with it.
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
	return nil
}
