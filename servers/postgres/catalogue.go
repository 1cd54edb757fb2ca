package postgres

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/locksim/locksim/servers/postgres/internal/sql"
)

// A view is one of PostgreSQL's own views, which show the server's state. It has only the
// rows and columns that clients of locks ask for. A query that may need others is refused
// as unsupported.
type view struct {
	columns        []column
	missingColumns []string // the other columns that a real server has
	rows           func(*run) [][]value
	// rows returns the rows for a run, which is one execution of a query. bounds are conditions
	// that exclude the rows that this server does not have. A query must contain one of these
	// conditions. missingRows describes the missing rows for the error.
	bounds      []bound
	missingRows string
}

// A bound is the condition that a column equals a value. The condition excludes the missing
// rows if suffices accepts the value.
type bound struct {
	column   string
	suffices func(r *run, v value) bool
}

// schema is the schema of all tables of clients.
const schema = "public"

// isServerOwned reports whether a relation with this name may be the server's own.
func isServerOwned(name string) bool { return strings.HasPrefix(name, "pg_") }

// views are the supported views. Their names hide tables with the same names, because the
// schema pg_catalog is searched first.
var views = map[string]*view{
	// Clients that create tables look here first whether the table exists.
	"pg_tables": {
		columns:        []column{{name: "schemaname", typ: sql.Name}, {name: "tablename", typ: sql.Name}},
		missingColumns: []string{"tableowner", "tablespace", "hasindexes", "hasrules", "hastriggers", "rowsecurity"},
		rows:           tableRows,
		bounds: []bound{
			{"tablename", func(_ *run, v value) bool {
				return !isServerOwned(v.(string)) && !strings.HasPrefix(v.(string), "sql_")
			}},
			{"schemaname", func(_ *run, v value) bool { return v != "pg_catalog" && v != "information_schema" }},
		},
		missingRows: "the server's own tables",
	},
	"pg_database": {
		columns: []column{{name: "oid", typ: sql.OID}, {name: "datname", typ: sql.Name}},
		missingColumns: []string{"datdba", "encoding", "datlocprovider", "datistemplate", "datallowconn", "datconnlimit", "datfrozenxid",
			"datminmxid", "dattablespace", "datcollate", "datctype", "daticulocale", "datcollversion", "datacl"},
		rows:        func(r *run) [][]value { return [][]value{{databaseID, r.b.database}} },
		bounds:      []bound{{"datname", func(r *run, v value) bool { return v == r.b.database }}},
		missingRows: "other databases than the session's own",
	},
	"pg_locks": {
		columns: []column{
			{name: "locktype", typ: sql.Text}, {name: "database", typ: sql.OID}, {name: "relation", typ: sql.OID}, {name: "page", typ: sql.Int4},
			{name: "tuple", typ: sql.Int2}, {name: "virtualxid", typ: sql.Text}, {name: "transactionid", typ: sql.XID},
			{name: "classid", typ: sql.OID}, {name: "objid", typ: sql.OID}, {name: "objsubid", typ: sql.Int2},
			{name: "pid", typ: sql.Int4}, {name: "mode", typ: sql.Text}, {name: "granted", typ: sql.Bool}, {name: "fastpath", typ: sql.Bool},
			{name: "waitstart", typ: sql.TimestampTZ},
		},
		missingColumns: []string{"virtualtransaction"},
		rows:           lockRows,
		bounds:         []bound{{"locktype", func(_ *run, v value) bool { return v == "advisory" }}},
		missingRows:    "other locks than advisory ones",
	},
	"pg_stat_activity": {
		columns: []column{
			{name: "datid", typ: sql.OID}, {name: "datname", typ: sql.Name}, {name: "pid", typ: sql.Int4}, {name: "usename", typ: sql.Name},
			{name: "application_name", typ: sql.Text}, {name: "backend_start", typ: sql.TimestampTZ}, {name: "xact_start", typ: sql.TimestampTZ},
			{name: "query_start", typ: sql.TimestampTZ}, {name: "state_change", typ: sql.TimestampTZ}, {name: "state", typ: sql.Text},
			{name: "query", typ: sql.Text}, {name: "backend_type", typ: sql.Text},
		},
		missingColumns: []string{"leader_pid", "usesysid", "client_addr", "client_hostname", "client_port", "wait_event_type", "wait_event",
			"backend_xid", "backend_xmin", "query_id"},
		rows: sessionRows,
		bounds: []bound{
			{"pid", func(*run, value) bool { return true }},
			{"datname", func(*run, value) bool { return true }},
			{"backend_type", func(_ *run, v value) bool { return v == "client backend" }},
			{"application_name", func(r *run, v value) bool { return v != "" && r.b.s.isStandalone() }},
		},
		missingRows: "the server's own processes",
	},
}

// databaseID is the OID of the server's one database: the first OID that a new server gives
// to an object of a user.
const databaseID = int64(16384)

// errIncomparable never reaches a client: it shows that a condition is no bound.
var errIncomparable = errors.New("a column is compared with a value of another type")

// bind makes the view the relation of a scope. It also finds the conditions of the query
// that are bounds of the view.
func (v *view) bind(sc *scope, q *query, stmt *sql.Select) *table {
	name := stmt.From.Table
	raiseUnsupportedIf(stmt.Lock.Update, "locks of the rows of %s", name)
	t := &table{name: name, columns: v.columns, view: v}
	sc.relations = []relation{{stmt.From.Alias, t}}
	for _, b := range v.bounds {
		for _, e := range requiredConstants(stmt.Where, b.column, stmt.From.Alias) {
			var n *node
			if catch(func() {
				n = (&scope{s: sc.s, params: sc.params, subqueries: sc.subqueries}).analyse(e)
				n = sc.coerce(n, v.columns[t.columnNumber(b.column)].typ, isImplicit, errIncomparable)
			}) == nil {
				q.bounds = append(q.bounds, func(r *run) bool {
					x := r.eval(n)
					return x == nil || b.suffices(r, x)
				})
			}
		}
	}
	return t
}

// requiredConstants returns the constants that a condition requires a column to equal.
func requiredConstants(where sql.Expr, column, alias string) []sql.Expr {
	o, is := where.(*sql.Operation)
	switch {
	case !is:
		return nil
	case o.Op == "and":
		return append(requiredConstants(o.X, column, alias), requiredConstants(o.Y, column, alias)...)
	case o.Op != "=":
		return nil
	}
	var all []sql.Expr
	for _, sides := range [][2]sql.Expr{{o.X, o.Y}, {o.Y, o.X}} {
		ref, is := sides[0].(*sql.Ref)
		if is && ref.Column == column && (ref.Table == "" || ref.Table == alias) && isConstant(sides[1]) {
			all = append(all, sides[1])
		}
	}
	return all
}

// isConstant reports whether an expression has the same value for all rows and has no side
// effects.
func isConstant(e sql.Expr) bool {
	switch e := e.(type) {
	case *sql.Literal, *sql.Param:
		return true
	case *sql.Cast:
		return isConstant(e.X)
	case *sql.Call:
		return len(e.Args) == 0 && slices.Contains([]string{"current_database", "current_schema", "pg_backend_pid"}, e.Name)
	}
	return false
}

// viewRows returns the rows of the query's view. It raises an error if the query has no
// bound.
func (q *query) viewRows(r *run) (all []*version) {
	v := q.table.view
	if !slices.ContainsFunc(q.bounds, func(isEnough func(*run) bool) bool { return isEnough(r) }) {
		var columns []string
		for _, b := range v.bounds {
			columns = append(columns, b.column)
		}
		raise(unsupported("%s in %s, which a condition on %s excludes", v.missingRows, q.table.name, strings.Join(columns, " or ")))
	}
	for _, values := range v.rows(r) {
		all = append(all, &version{row: &row{table: q.table}, values: values})
	}
	return all
}

// tableRows returns the rows of pg_tables: the tables that clients have created.
func tableRows(r *run) (all [][]value) {
	for _, name := range slices.Sorted(maps.Keys(r.b.s.tables)) {
		all = append(all, []value{schema, name})
	}
	return all
}

// lockRows returns the advisory locks for pg_locks: first those that sessions hold, then
// those for which sessions wait.
func lockRows(r *run) (all [][]value) {
	s := r.b.s
	add := func(a advisoryLock, b *backend, waitingSince value) {
		kind := int64(1)
		if a.isPair {
			kind = 2
		}
		all = append(all, []value{
			"advisory", databaseID, nil, nil, nil, nil, nil, int64(uint32(a.number >> 32)), int64(uint32(a.number)), kind,
			int64(b.pid), "ExclusiveLock", waitingSince == nil, false, waitingSince,
		})
	}
	for _, a := range slices.SortedFunc(maps.Keys(s.advisoryLocks.held), advisoryLock.compare) {
		add(a, s.advisoryLocks.held[a].b, nil)
	}
	for _, waiter := range s.waiting {
		if waiter.wait != nil && waiter.wait.advisoryLock != nil {
			add(*waiter.wait.advisoryLock, waiter.b, waiter.wait.sinceWall)
		}
	}
	return all
}

// sessionRows returns the sessions for pg_stat_activity.
func sessionRows(r *run) (all [][]value) {
	for _, b := range r.b.s.backends {
		if !b.isStarted {
			continue
		}
		var txStart, queryStart value
		if b.tx != nil {
			txStart = b.tx.began
		}
		if b.query != "" {
			queryStart = b.queryAt
		}
		all = append(all, []value{
			databaseID, b.database, int64(b.pid), b.user, b.settings["application_name"], b.startedAt, txStart, queryStart, b.stateChangedAt, b.state(), b.query, "client backend",
		})
	}
	return all
}

// currentSchema is the function current_schema(): the schema in which tables without a
// schema are created and found.
func currentSchema(f *frame, _ []value) value {
	raiseUnsupportedIf(f.r.b.settings["search_path"] != defaultSettings["search_path"], "current_schema() with another search_path")
	return schema
}
