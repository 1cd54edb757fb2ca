package postgres

import (
	"maps"
	"slices"

	"github.com/locksim/locksim/servers/postgres/sql"
)

// tablesView is the view in which whoever makes a table looks first whether it is there. It is
// before a table of that name, as the schema pg_catalog is before the others.
const tablesView = "pg_tables"

// schema is the one in which all tables are.
const schema = "public"

// catalogue has pg_tables be the relation of a scope: the tables that clients have made, with their
// schema and their name. Those of the server itself are not among them, and neither is what else the
// view says of each. A plan is made anew when there are other tables.
func (sc *scope) catalogue(of *sql.Select) (*table, error) {
	if of.Lock.Update {
		return nil, without("locks of the rows of %s", tablesView)
	}
	t := &table{name: tablesView, columns: []column{{name: "schemaname", typ: sql.Text}, {name: "tablename", typ: sql.Text}}}
	always := &tx{state: committed}
	for _, name := range slices.Sorted(maps.Keys(sc.s.tables)) {
		r := &row{of: t}
		r.versions = []*version{{row: r, values: []value{schema, name}, by: always}}
		t.rows = append(t.rows, r)
	}
	sc.relations = []relation{{of.From.Alias, t}}
	return t, nil
}

// currentSchema is where a table is made and looked for that names none.
func currentSchema(f *frame, _ []value) (value, error) {
	if f.r.b.settings["search_path"] != settings["search_path"] {
		return nil, without("current_schema() with another search_path")
	}
	return schema, nil
}
