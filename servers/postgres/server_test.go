package postgres_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// runScript runs a script in a world with faults, and returns its answers. In a script,
// "a: SQL" executes a statement in session a by the extended protocol, "a! SQL" does so by
// the simple protocol, and "a; 3s" lets that time pass. fidelity_test.go describes the
// language of scripts.
func runScript(t *testing.T, text string, faults ...sim.Fault) (string, *trace.Trace) {
	t.Helper()
	var answers string
	tr := RunWorld(t, WithFaults(oneClient(t, func(_ context.Context, p *sim.Program) {
		env := p.Env()
		s := &scriptRunner{t: t, dial: func(ctx context.Context, _, _ string) (net.Conn, error) { return env.Dial(ctx, "tcp", env.Nodes[0]) }}
		answers = s.play(text)
	}), faults...))
	return strings.Join(lines(answers), "\n"), tr
}

// TestCrashes checks that a crash loses everything but committed data: sessions, their
// locks and uncommitted changes. A sequence continues after the last number that it had
// logged, unless only an uncommitted transaction had logged it.
func TestCrashes(t *testing.T) {
	const text = `
		a! CREATE TABLE t (n int); INSERT INTO t VALUES (1); CREATE SEQUENCE s
		a: SELECT nextval('s')
		a: SELECT pg_advisory_lock(1)
		a: BEGIN
		a: INSERT INTO t VALUES (2)
		a; 3s
		a: COMMIT
		b: SELECT n FROM t
		b: SELECT nextval('s')
		b: SELECT pg_try_advisory_lock(1)`
	// next is the next number of the sequence after the crash.
	for how, next := range map[trace.Crash]string{trace.Kill: "34", trace.PowerLoss: "34", trace.Shutdown: "2"} {
		fault := Lasting(time.Second, At(2*time.Second, CrashOf("postgres-1", how)))
		if how == trace.PowerLoss {
			fault.For = 500 * time.Millisecond
		}
		answers, tr := runScript(t, text, fault)
		AllFaultsStruck(t, tr)
		_, after, _ := strings.Cut(answers, "the connection is over\n")
		Equal(t, "answers after the crash by "+string(how), after, strings.Join([]string{
			"b: [n 23]", "b: 1", "b: SELECT 1", "b: [nextval 20]", "b: " + next, "b: SELECT 1", "b: [pg_try_advisory_lock 16]", "b: t", "b: SELECT 1",
		}, "\n"))
	}
}

// TestStatementOfDisconnectedClientIsExecuted checks a session that waits for a lock when
// its client disconnects. The session does not notice that. It acquires the lock and
// executes its statement.
func TestStatementOfDisconnectedClientIsExecuted(t *testing.T) {
	var n string
	RunWorld(t, oneClient(t, func(ctx context.Context, p *sim.Program) {
		answer(ctx, p, "CREATE TABLE t (k text PRIMARY KEY, n int); INSERT INTO t VALUES ('a', 0)")
		env := p.Env()
		dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
			return env.Dial(ctx, network, env.Nodes[0])
		}
		holder, err := connect(dial, "", func(*pgconn.Notice) {})
		if err != nil {
			t.Error(err)
			return
		}
		defer holder.Close(ctx)
		holder.Exec(ctx, "BEGIN; UPDATE t SET n = 1").ReadAll()
		c, err := Dial(ctx, p, 0)
		if err != nil {
			t.Error(err)
			return
		}
		c.Write(encodeMessages(startup))
		c.Read(make([]byte, 4096))
		c.Write(encodeMessages(&pgproto3.Query{String: "UPDATE t SET n = n + 10"}))
		time.Sleep(time.Second)
		c.Close()
		time.Sleep(time.Second)
		holder.Exec(ctx, "COMMIT").ReadAll()
		time.Sleep(time.Second)
		n = answer(ctx, p, "SELECT n FROM t")
	}))
	Equal(t, "n after the holder has set it to 1 and the disconnected client has added 10", n, "11")
}

// TestTimeoutsInAPause checks that a timeout that passes while the server is paused takes
// effect when the server runs again.
func TestTimeoutsInAPause(t *testing.T) {
	answers, tr := runScript(t, `
		a: SET idle_in_transaction_session_timeout = '2s'
		a: BEGIN
		a: SELECT pg_advisory_lock(1)
		a; 1s
		b: SELECT pg_try_advisory_lock(1)`,
		Lasting(10*time.Second, At(time.Second, PauseOf("postgres-1"))))
	AllFaultsStruck(t, tr)
	if !strings.HasSuffix(answers, "b: t\nb: SELECT 1") {
		t.Errorf("the answers are\n%s\nwant that b acquires the lock at the end", answers)
	}
}

// TestTheServersClock checks that now() follows the server's wall clock.
func TestTheServersClock(t *testing.T) {
	answers, tr := runScript(t, `
		a! CREATE TABLE t (at timestamptz); INSERT INTO t VALUES (now())
		a; 2s
		a: SELECT now() - at > interval '1 hour' FROM t`,
		At(time.Second, &sim.Jump{Process: "postgres-1", By: time.Hour}))
	AllFaultsStruck(t, tr)
	if !strings.HasSuffix(answers, "a: t\na: SELECT 1") {
		t.Errorf("the answers are\n%s\nwant that now() is more than an hour later at the end", answers)
	}
}

// TestAServerFails checks that a server with a failure refuses statements, and that its
// sessions survive the failure.
func TestAServerFails(t *testing.T) {
	answers, tr := runScript(t, `
		a: SELECT 1
		a; 2s
		a: SELECT 2
		a! SELECT 2
		a; 2s
		a: SELECT 3`,
		Lasting(2*time.Second, At(time.Second, &sim.Fail{Node: "postgres-1"})))
	AllFaultsStruck(t, tr)
	const refused = "ERROR 53100: could not extend file: No space left on device"
	Equal(t, "answers", answers, strings.Join([]string{
		"a: [?column? 23]", "a: 1", "a: SELECT 1", "a: " + refused, "a: " + refused, "a: [?column? 23]", "a: 3", "a: SELECT 1",
	}, "\n"))
}

// TestDoubts checks that a run has a doubt for each statement that the simulated server does
// not understand. An error that a real server certainly gives as well causes no doubt.
func TestDoubts(t *testing.T) {
	for text, doubts := range map[string]int{
		"a: SELECT 1/0": 0, "a: SELECT none": 0, "a: SELECT * FROM none": 0, "a: LISTEN x": 1, "a: SELECT random()": 1, "a: SELECT nothing()": 1, "a: SELEC 1": 1,
	} {
		if _, tr := runScript(t, text); len(tr.Doubts) != doubts {
			t.Errorf("%s: the doubts are %q, want %d", text, tr.Doubts, doubts)
		}
	}
}
