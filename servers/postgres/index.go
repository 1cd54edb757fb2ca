package postgres

import (
	"slices"
	"strconv"
	"strings"

	"github.com/locksim/locksim/servers/postgres/internal/sql"
)

// called says whether there is something of that name: a table, a sequence or an index, which share
// their names.
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

// createIndex adds an index. One that is not unique is only a name: nothing is found otherwise.
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
