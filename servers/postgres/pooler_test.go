package postgres_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
)

// poolerScripts are scripts of clients of a pooler in transaction mode, with the answers
// that the simulated pooler and a real PgBouncer have to give. The fields and the language
// are those of [fidelity], in fidelity_test.go. In short, the letter is a client, and the
// mark after it says what the client does:
//
//	a: SQL      executes SQL by the extended protocol
//	a! SQL      executes SQL by the simple protocol
//	a> SQL      executes SQL, and records "waits" if there is no answer yet
//	a<          records the answer that a> did not have yet
//	a.          disconnects
//	a; 300ms    lets that time pass
//
// Sessions are the pooler's connections to the server.
var poolerScripts = []struct {
	fidelity
	size int // how many sessions the pooler may open; 0 means its default
}{
	{fidelity: fidelity{
		name: "two clients share one session and its advisory lock",
		script: `
			a: SELECT pg_try_advisory_lock(1)
			b: SELECT pg_try_advisory_lock(1)
			a: SELECT pg_advisory_unlock(1)
			b: SELECT pg_advisory_unlock(1)
			a: SELECT pg_advisory_unlock(1)`,
		want: `
			a: [pg_try_advisory_lock 16]
			a: t
			a: SELECT 1
			b: [pg_try_advisory_lock 16]
			b: t
			b: SELECT 1
			a: [pg_advisory_unlock 16]
			a: t
			a: SELECT 1
			b: [pg_advisory_unlock 16]
			b: t
			b: SELECT 1
			a: WARNING 01000: you don't own a lock of type ExclusiveLock
			a: [pg_advisory_unlock 16]
			a: f
			a: SELECT 1`,
	}},
	{fidelity: fidelity{
		name: "a client in a transaction keeps its session, and the session given back last is assigned next",
		script: `
			a! BEGIN
			a: SELECT pg_try_advisory_lock(1)
			b: SELECT pg_try_advisory_lock(1)
			a! COMMIT
			b: SELECT pg_try_advisory_lock(1)`,
		want: `
			a: BEGIN
			a: [pg_try_advisory_lock 16]
			a: t
			a: SELECT 1
			b: [pg_try_advisory_lock 16]
			b: f
			b: SELECT 1
			a: COMMIT
			b: [pg_try_advisory_lock 16]
			b: t
			b: SELECT 1`,
	}},
	{fidelity: fidelity{
		name: "the unlock runs on another session than the lock",
		script: `
			c! BEGIN
			a: SELECT pg_try_advisory_lock(1)
			c! COMMIT
			a: SELECT pg_advisory_unlock(1)
			b: SELECT pg_try_advisory_lock(1)
			b: SELECT pg_try_advisory_lock(1)`,
		want: `
			c: BEGIN
			a: [pg_try_advisory_lock 16]
			a: t
			a: SELECT 1
			c: COMMIT
			a: WARNING 01000: you don't own a lock of type ExclusiveLock
			a: [pg_advisory_unlock 16]
			a: f
			a: SELECT 1
			b: [pg_try_advisory_lock 16]
			b: f
			b: SELECT 1
			b: [pg_try_advisory_lock 16]
			b: f
			b: SELECT 1`,
	}},
	{fidelity: fidelity{
		name: "a client disconnects, and its advisory lock stays with the session",
		script: `
			c! BEGIN
			a: SELECT pg_try_advisory_lock(1)
			a.
			c; 300ms
			c! COMMIT
			b: SELECT pg_try_advisory_lock(1)`,
		want: `
			c: BEGIN
			a: [pg_try_advisory_lock 16]
			a: t
			a: SELECT 1
			c: COMMIT
			b: [pg_try_advisory_lock 16]
			b: f
			b: SELECT 1`,
	}},
	{fidelity: fidelity{
		name: "a client disconnects in a transaction, and the pooler closes the session",
		script: `
			a! CREATE TABLE t (n int)
			a! BEGIN
			a! INSERT INTO t VALUES (1)
			a: SELECT pg_try_advisory_lock(1)
			a.
			b; 300ms
			b: SELECT n FROM t
			b: SELECT pg_try_advisory_lock(1)`,
		want: `
			a: CREATE TABLE
			a: BEGIN
			a: INSERT 0 1
			a: [pg_try_advisory_lock 16]
			a: t
			a: SELECT 1
			b: SELECT 0
			b: [pg_try_advisory_lock 16]
			b: t
			b: SELECT 1`,
	}},
	{fidelity: fidelity{
		name: "an advisory lock of a transaction ends with the transaction",
		script: `
			a! BEGIN
			a: SELECT pg_try_advisory_xact_lock(1)
			b: SELECT pg_try_advisory_lock(1)
			a! ROLLBACK
			b! BEGIN
			c: SELECT pg_try_advisory_lock(1)
			b: SELECT pg_try_advisory_xact_lock(1)`,
		want: `
			a: BEGIN
			a: [pg_try_advisory_xact_lock 16]
			a: t
			a: SELECT 1
			b: [pg_try_advisory_lock 16]
			b: f
			b: SELECT 1
			a: ROLLBACK
			b: BEGIN
			c: [pg_try_advisory_lock 16]
			c: t
			c: SELECT 1
			b: [pg_try_advisory_xact_lock 16]
			b: f
			b: SELECT 1`,
	}},
	{fidelity: fidelity{
		name: "a setting stays with the session, unless the pooler tracks it for each client",
		script: `
			a! SET lock_timeout = '5s'
			a! SET application_name = 'mine'
			b! SET application_name = 'other'
			a! SHOW application_name
			b! SHOW application_name
			b! SHOW lock_timeout`,
		want: `
			a: SET
			a: SET
			b: SET
			a: [application_name 25]
			a: mine
			a: SHOW
			b: [application_name 25]
			b: other
			b: SHOW
			b: [lock_timeout 25]
			b: 5s
			b: SHOW`,
	}},
	{size: 1, fidelity: fidelity{
		name: "a client waits until a session is free",
		script: `
			a! BEGIN
			b> SELECT 1
			a: SELECT 2
			a! COMMIT
			b<
			a: SELECT 3`,
		want: `
			a: BEGIN
			b: waits
			a: [?column? 23]
			a: 2
			a: SELECT 1
			a: COMMIT
			b: [?column? 23]
			b: 1
			b: SELECT 1
			a: [?column? 23]
			a: 3
			a: SELECT 1`,
	}},
	{size: 2, fidelity: fidelity{
		name: "a failed transaction keeps its session until the rollback",
		script: `
			a! BEGIN
			a! SELECT 1/0
			b: SELECT pg_try_advisory_lock(1)
			a! SELECT 1
			a! ROLLBACK
			b: SELECT pg_advisory_unlock(1)`,
		want: `
			a: BEGIN
			a: ERROR 22012: division by zero
			b: [pg_try_advisory_lock 16]
			b: t
			b: SELECT 1
			a: ERROR 25P02: current transaction is aborted, commands ignored until end of transaction block
			a: ROLLBACK
			b: WARNING 01000: you don't own a lock of type ExclusiveLock
			b: [pg_advisory_unlock 16]
			b: f
			b: SELECT 1`,
	}},
}

// withPooler puts a pooler in front of a world's server.
func withPooler(cfg sim.Config, settings ...string) sim.Config {
	cfg.Nodes[0].Settings = append([]string{"pool_mode=transaction"}, settings...)
	return cfg
}

// TestPoolerScriptsOnSimulatedPooler runs the scripts on the simulated pooler.
// TestPoolerScriptsOnRealPgBouncer runs them on a real one.
func TestPoolerScriptsOnSimulatedPooler(t *testing.T) {
	for _, f := range poolerScripts {
		t.Run(f.name, func(t *testing.T) {
			var answers string
			cfg := oneClient(t, func(_ context.Context, p *sim.Program) {
				env := p.Env()
				s := &scriptRunner{t: t, dial: func(ctx context.Context, _, _ string) (net.Conn, error) { return env.Dial(ctx, "tcp", env.Nodes[0]) }}
				answers = s.play(f.script)
			})
			cfg = withPooler(cfg)
			if f.size > 0 {
				cfg = withPooler(cfg, fmt.Sprint("default_pool_size=", f.size))
			}
			RunWorld(t, cfg)
			f.compare(t, answers, f.want)
		})
	}
}

// TestPoolerClosesIdleSessions checks that the pooler closes a session that no client has
// used for ten minutes, and that the session's locks are released.
func TestPoolerClosesIdleSessions(t *testing.T) {
	var answers string
	cfg := withPooler(oneClient(t, func(_ context.Context, p *sim.Program) {
		env := p.Env()
		s := &scriptRunner{t: t, dial: func(ctx context.Context, _, _ string) (net.Conn, error) { return env.Dial(ctx, "tcp", env.Nodes[0]) }}
		answers = s.play(`
			a! BEGIN
			b: SELECT pg_try_advisory_lock(1)
			a! COMMIT
			a; 9m59s
			a: SELECT pg_try_advisory_lock(1)
			a; 2s
			a: SELECT pg_try_advisory_lock(1)`)
	}))
	cfg.Horizon = time.Hour
	RunWorld(t, cfg)
	if !strings.HasSuffix(strings.Join(lines(answers), " "), "a: f a: SELECT 1 a: [pg_try_advisory_lock 16] a: t a: SELECT 1") {
		t.Errorf("the answers are\n%s\nwant a's lock refused after 9m59s and granted 2 s later", answers)
	}
}

// TestPoolerDisconnectsClientThatWaitsTooLong checks that the pooler disconnects a client
// that has waited for a session for two minutes.
func TestPoolerDisconnectsClientThatWaitsTooLong(t *testing.T) {
	var answers string
	RunWorld(t, withPooler(oneClient(t, func(_ context.Context, p *sim.Program) {
		env := p.Env()
		s := &scriptRunner{t: t, dial: func(ctx context.Context, _, _ string) (net.Conn, error) { return env.Dial(ctx, "tcp", env.Nodes[0]) }}
		answers = s.play(`
			a! BEGIN
			b> SELECT 1
			a; 3m
			b<
			a! COMMIT`)
	}), "default_pool_size=1"))
	Equal(t, "answers", strings.Join(lines(answers), "; "), "a: BEGIN; b: waits; b: FATAL 08P01: query_wait_timeout; a: COMMIT")
}

// TestAPoolerRefusesSettings checks that the pooler refuses a client that connects with a
// setting that the pooler does not keep.
func TestAPoolerRefusesSettings(t *testing.T) {
	var got error
	RunWorld(t, withPooler(oneClient(t, func(ctx context.Context, p *sim.Program) {
		env := p.Env()
		c, err := pgconn.ParseConfig("host=127.0.0.1 port=5432 user=locksim sslmode=disable lock_timeout=5s")
		if err != nil {
			t.Error(err)
			return
		}
		c.LookupFunc = func(_ context.Context, host string) ([]string, error) { return []string{host}, nil }
		c.DialFunc = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return env.Dial(ctx, network, env.Nodes[0])
		}
		_, got = pgconn.ConnectConfig(ctx, c)
	})))
	if got == nil || !strings.Contains(got.Error(), "FATAL: unsupported startup parameter: lock_timeout (SQLSTATE 08P01)") {
		t.Errorf("connecting with lock_timeout ended with %v, want the error of an unsupported startup parameter", got)
	}
}

// TestPoolerAndPreparedStatements checks a statement that a client has prepared on one
// session and executes on another session. If the pooler tracks prepared statements, the
// execution works. Otherwise the client gets the error of a session in which the statement
// was not prepared.
func TestPoolerAndPreparedStatements(t *testing.T) {
	for settings, want := range map[string]string{
		"max_prepared_statements=200": "nil, 1; nil, 1; nil",
		"max_prepared_statements=0": "nil, 1; ERROR: prepared statement \"mine\" does not exist (SQLSTATE 26000), ; " +
			"ERROR: prepared statement \"mine\" already exists (SQLSTATE 42P05)",
	} {
		var answers []string
		RunWorld(t, withPooler(oneClient(t, func(ctx context.Context, p *sim.Program) {
			env := p.Env()
			connectClient := func() *pgconn.PgConn {
				c, err := connect(func(ctx context.Context, network, _ string) (net.Conn, error) {
					return env.Dial(ctx, network, env.Nodes[0])
				}, "", func(*pgconn.Notice) {})
				if err != nil {
					t.Error(err)
				}
				return c
			}
			a, b := connectClient(), connectClient()
			defer a.Close(ctx)
			defer b.Close(ctx)
			// executePrepared executes the statement for client a, and records the error and the
			// value.
			executePrepared := func() {
				r := a.ExecPrepared(ctx, "mine", [][]byte{[]byte("1")}, nil, nil).Read()
				got := ""
				if len(r.Rows) > 0 {
					got = string(r.Rows[0][0])
				}
				answers = append(answers, fmt.Sprintf("%v, %s", errorText(r.Err), got))
			}
			if _, err := a.Prepare(ctx, "mine", "SELECT $1::int", nil); err != nil {
				t.Error(err)
			}
			executePrepared()
			b.Exec(ctx, "BEGIN").ReadAll() // b gets the session in which a has prepared the statement
			executePrepared()
			_, err := b.Prepare(ctx, "mine", "SELECT $1::int", nil)
			answers = append(answers, errorText(err))
		}), settings))
		Equal(t, settings, strings.Join(answers, "; "), want)
	}
}

// errorText is the text of an error, or "nil".
func errorText(err error) string {
	if err == nil {
		return "nil"
	}
	return err.Error()
}

// FuzzPooler checks that the pooler replies or hangs up, whatever a client sends, and that
// it then serves the next client.
func FuzzPooler(f *testing.F) {
	for _, messages := range [][]pgproto3.FrontendMessage{
		{startup},
		{startup, &pgproto3.Query{String: "SELECT 1; BEGIN"}, &pgproto3.Terminate{}},
		{startup, &pgproto3.Parse{Name: "a", Query: "SELECT $1::int"}, &pgproto3.Bind{PreparedStatement: "a", Parameters: [][]byte{nil}},
			&pgproto3.Describe{ObjectType: 'S', Name: "a"}, &pgproto3.Execute{}, &pgproto3.Close{ObjectType: 'S', Name: "a"}, &pgproto3.Sync{}},
		{startup, &pgproto3.Parse{Name: "a", Query: "SELEC"}, &pgproto3.Sync{}, &pgproto3.Parse{Name: "a", Query: "SELECT 1"}, &pgproto3.Sync{}},
		{startup, &pgproto3.Bind{PreparedStatement: "none"}, &pgproto3.Sync{}},
		{startup, &pgproto3.Parse{Query: "SELECT 1"}, &pgproto3.Flush{}, &pgproto3.Terminate{}},
		{startup, &pgproto3.Query{String: "DEALLOCATE ALL"}, &pgproto3.Query{String: "SET idle_session_timeout = 1"}, &pgproto3.Query{String: "SELECT 1"}},
		{&pgproto3.CancelRequest{ProcessID: 1001, SecretKey: []byte{0, 0, 0, 0}}},
	} {
		f.Add(encodeMessages(messages...))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		RunWorld(t, withPooler(oneClient(t, func(ctx context.Context, p *sim.Program) {
			c, err := Dial(ctx, p, 0)
			if err != nil {
				t.Error(err)
				return
			}
			c.SetDeadline(time.Now().Add(time.Second))
			if _, err := c.Write(b); err == nil {
				_, _ = c.Read(make([]byte, 1))
			}
			c.Close()
			if got := answer(ctx, p, "SELECT 1"); got != "1" {
				t.Errorf("SELECT 1 of the next client: got %q, want 1", got)
			}
		}), "default_pool_size=1"))
	})
}
