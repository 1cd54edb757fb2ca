package postgres_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// TestUnsupportedStatementsCauseDoubts checks statements that a real server may support and
// the simulated one does not. They make the run inconclusive: it has a doubt that names what
// is not supported. No doubt comes from a statement that the simulated server supports, nor
// from an error that a real server certainly gives as well.
func TestUnsupportedStatementsCauseDoubts(t *testing.T) {
	const setup = "a! CREATE TABLE t (k text PRIMARY KEY, n int); INSERT INTO t VALUES ('a', 1); CREATE SEQUENCE s; CREATE INDEX i ON t (n)\n"
	// The keys are lines of a script: session a executes a statement. The values are what the
	// doubt names; "" means no doubt.
	for line, want := range map[string]string{
		"a: SELECT relname FROM pg_class":                                                           "the relation pg_class",
		"a: SELECT 1 FROM pg_catalog.pg_class":                                                      "the relation pg_class",
		"a: SELECT 1 FROM information_schema.tables":                                                "other schemas than public",
		"a: INSERT INTO pg_locks VALUES (1)":                                                        "the relation pg_locks",
		"a: DELETE FROM pg_stat_activity":                                                           "the relation pg_stat_activity",
		"a: SELECT nextval('pg_class')":                                                             "the relation pg_class",
		"a: CREATE TABLE pg_mine (n int)":                                                           "tables whose names begin with pg_",
		"a: DROP TABLE pg_class":                                                                    "DROP of the server's own relations",
		"a: SELECT 1 FROM pg_locks":                                                                 "other locks than advisory ones in pg_locks",
		"a: SELECT 1 FROM pg_locks WHERE locktype = 'relation'":                                     "other locks than advisory ones in pg_locks",
		"a: SELECT 1 FROM pg_locks WHERE locktype = $1 | tuple":                                     "other locks than advisory ones in pg_locks",
		"a: SELECT 1 FROM pg_locks WHERE locktype = 'advisory' OR granted":                          "other locks than advisory ones in pg_locks",
		"a: SELECT * FROM pg_locks WHERE locktype = 'advisory'":                                     "all columns of pg_locks",
		"a: SELECT virtualtransaction FROM pg_locks WHERE locktype = 'advisory'":                    "the column virtualtransaction of pg_locks",
		"a: SELECT pid FROM pg_locks WHERE locktype = 'advisory' FOR UPDATE":                        "locks of the rows of pg_locks",
		"a: SELECT count(*) FROM pg_stat_activity":                                                  "the server's own processes in pg_stat_activity",
		"a: SELECT count(*) FROM pg_stat_activity WHERE state = 'active'":                           "the server's own processes in pg_stat_activity",
		"a: SELECT wait_event FROM pg_stat_activity WHERE pid = 1":                                  "the column wait_event of pg_stat_activity",
		"a: SELECT 1 FROM pg_database WHERE datname = 'postgres'":                                   "other databases than the session's own in pg_database",
		"a: SELECT 1 FROM pg_tables":                                                                "the server's own tables in pg_tables",
		"a: SELECT 1 FROM pg_tables WHERE tablename = 'pg_class'":                                   "the server's own tables in pg_tables",
		"a: SELECT t.tableoid FROM t":                                                               "the system column tableoid",
		"a: UPDATE t SET n = 2 RETURNING cmin":                                                      "the system column cmin",
		"a: INSERT INTO t VALUES ('a') ON CONFLICT (k) DO UPDATE SET n = 1 WHERE excluded.xmin = 1": "the system column excluded.xmin",
		"a: SELECT t FROM t":                                                                        "a whole row as a value",
		"a: SELECT last_value FROM s":                                                               "a sequence as a table",
		"a: SELECT * FROM i":                                                                        "an index as a table",
		"a: SELECT pg_blocking_pids(1)":                                                             "the function pg_blocking_pids",
		"a: SELECT pg_terminate_backend(pg_backend_pid())":                                          "signals of a session to itself",
		"a: SELECT version()":                                                                       "the function version",
		"a: SET in_hot_standby = 'off'":                                                             "SET of in_hot_standby",
		"a: SHOW max_connections":                                                                   `unrecognized configuration parameter "max_connections"`,
		"a: SELECT current_setting('a.b')":                                                          `unrecognized configuration parameter "a.b"`,
		"a: SELECT 1.5 % 1":                                                                         "% of decimals",
		"a: UPDATE t SET n = 1 WHERE NOT EXISTS (SELECT 1 FROM t x WHERE x.n = t.n)":                "a query in brackets that refers to the rows around it",
		"a: SELECT 'now'::timestamptz":                                                              `invalid input syntax for type timestamp with time zone: "now"`,
		"a: SELECT 'Jan 1 2020'::timestamptz":                                                       `invalid input syntax for type timestamp with time zone: "Jan 1 2020"`,
		"a: LISTEN x":                                                                               "the statement listen",
		"a: SELEC 1":                                                                                `syntax error at or near "SELEC"`,

		"a: SELECT 'x'::timestamptz":                              "",
		"a: SELECT (SELECT none FROM t)":                          "",
		"a: SELECT 1/0":                                           "",
		"a: SELECT none FROM t":                                   "",
		"a: SELECT * FROM none":                                   "",
		"a: DROP TABLE s":                                         "",
		"a: SELECT xmin, xmax, ctid FROM t":                       "",
		"a: UPDATE t SET xmin = 1":                                "",
		"a: SELECT pid FROM pg_locks WHERE locktype = 'advisory'": "",
		"a: SELECT state FROM pg_stat_activity WHERE pid = pg_backend_pid()": "",
		"a: SELECT 1 FROM pg_tables WHERE schemaname = current_schema()":     "",
	} {
		answers, tr := runScript(t, setup+line)
		doubts := strings.Join(tr.Doubts, "; ")
		if want == "" {
			Equal(t, "doubts about "+line, doubts, "")
			continue
		}
		if !strings.HasPrefix(doubts, "postgres-1 was asked for something that a real PostgreSQL server may do and the simulated one does not: ") || !strings.Contains(doubts, want) {
			t.Errorf("%s: the doubts are %q, want one that names %s; the answers are\n%s", line, doubts, want, answers)
		}
		if v := checks.Check(history.New(tr), nil); v.Verdict != checks.Undecided || len(v.Reasons) != 1 || v.Reasons[0].Code != checks.Code(checks.InDoubt) {
			t.Errorf("%s: the verdict is %s for the reasons %v, want %s for the doubt alone", line, v.Verdict, v.Reasons, checks.Undecided)
		}
	}
}

// TestTerminatedSessionLosesItsLocks checks that a session loses its locks when another
// session terminates it. The trace shows that as a drop, and not as a release by a command
// of the holder.
func TestTerminatedSessionLosesItsLocks(t *testing.T) {
	cfg := oneClient(t, func(_ context.Context, p *sim.Program) {
		env := p.Env()
		s := &scriptRunner{t: t, dial: func(ctx context.Context, _, _ string) (net.Conn, error) { return env.Dial(ctx, "tcp", env.Nodes[0]) }}
		answers := s.play(`
			a: SET application_name = 'holder'
			a: SELECT pg_advisory_lock(5)
			b: SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = 5 AND pid <> pg_backend_pid()
			b: SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'holder'
			b: SELECT pg_advisory_lock(5)
			b: SELECT pg_advisory_unlock(5)`)
		if strings.Contains(answers, "ERROR") {
			t.Errorf("the answers are\n%s\nwant no errors", answers)
		}
	})
	cfg.Lock = sim.Lock{Key: "5", TTL: time.Second, Kind: locks.Kind{
		Name: "ours", System: locks.Postgres,
		New:   func(*locks.Env) (locks.Lock, error) { return nil, nil }, // only the script uses the lock
		Slots: func(string, int) ([]locks.Slot, int) { return []locks.Slot{{Key: "advisory/5"}}, 1 },
	}}
	var events []string
	for _, ev := range RunWorld(t, cfg).Events {
		switch ev.Kind {
		case trace.KindSet, trace.KindDelete, trace.KindDrop:
			events = append(events, string(ev.Kind)+" "+ev.Value)
		}
	}
	Equal(t, "events of the lock", strings.Join(events, ", "), "set session-1, drop session-1, set session-2, delete session-2")
}

// TestUnsupportedStartupParametersCauseDoubts checks the doubts about parameters with which
// a client connects.
func TestUnsupportedStartupParametersCauseDoubts(t *testing.T) {
	// want is what the doubt names; "" means no doubt.
	for name, c := range map[string]struct{ value, want string }{
		"geqo":             {"off", `unrecognized configuration parameter "geqo"`},
		"options":          {"-c geqo=off", "options in the startup packet"},
		"replication":      {"database", "the protocol of replication"},
		"timezone":         {"Europe/Berlin", "timezone = Europe/Berlin"},
		"application_name": {"job", ""},
	} {
		tr := RunWorld(t, oneClient(t, func(ctx context.Context, p *sim.Program) {
			conn, err := p.Env().Dial(ctx, "tcp", p.Env().Nodes[0])
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			hello := &pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersion30, Parameters: map[string]string{"user": "locksim", name: c.value}}
			frontend := pgproto3.NewFrontend(conn, conn)
			frontend.Send(hello)
			if err := frontend.Flush(); err != nil {
				t.Error(err)
			}
			_, _ = frontend.Receive()
		}))
		doubts := strings.Join(tr.Doubts, "; ")
		if (doubts == "") != (c.want == "") || !strings.Contains(doubts, c.want) {
			t.Errorf("a client connects with %s = %s: the doubts are %q, want %q", name, c.value, doubts, c.want)
		}
	}
}
