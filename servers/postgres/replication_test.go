package postgres_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// standbyScripts are scripts of a primary and its standby, with the answers that simulated
// and real servers have to give. The fields and the language are those of [fidelity], in
// fidelity_test.go. In short, a line that begins with a letter is about the session with
// that name. Sessions of the primary have small letters, and those of the standby have
// capital letters:
//
//	a: SQL        executes SQL by the extended protocol
//	a! SQL        executes SQL by the simple protocol
//	a> SQL        executes SQL, and records "waits" if there is no answer yet
//	a<            records the answer that a> did not have yet
//	a; 300ms      lets that time pass
//
// Other lines are about the standby:
//
//	=caught up    waits until the standby has everything that the primary has on its disk
//	=stop         stops the standby
//	=start        starts the standby again
//	=promote      promotes the standby to primary
var standbyScripts = []struct {
	fidelity
	synchronous bool // commits wait for the standby
}{
	{fidelity: fidelity{
		name: "a standby can be read until it is promoted",
		script: `
			a! CREATE TABLE t (k text PRIMARY KEY, n int); CREATE SEQUENCE s; INSERT INTO t VALUES ('a', 1)
			a: SELECT nextval('s')
			a: BEGIN
			a: INSERT INTO t VALUES ('b', 2)
			a: SELECT n FROM t WHERE k = 'a' FOR UPDATE
			b: SELECT pg_try_advisory_lock(1)
			=caught up
			A: SELECT pg_is_in_recovery()
			A: SHOW transaction_read_only
			A: SELECT k, n FROM t
			A: INSERT INTO t VALUES ('c', 3)
			A: UPDATE t SET n = 2
			A: DELETE FROM t
			A: SELECT n FROM t FOR UPDATE
			A: CREATE TABLE u (n int)
			A: CREATE SEQUENCE r
			A: DROP TABLE t
			A: SELECT nextval('s')
			A: SELECT pg_try_advisory_lock(1)
			=promote
			A: SELECT pg_is_in_recovery()
			A: SHOW transaction_read_only
			B: SELECT pg_try_advisory_lock(1)
			B: UPDATE t SET n = n + 1 WHERE k = 'a' RETURNING n
			B: SELECT nextval('s')
			a: COMMIT
			a: SELECT n FROM t ORDER BY k
			B: SELECT n FROM t`,
		want: `
			a: CREATE TABLE
			a: CREATE SEQUENCE
			a: INSERT 0 1
			a: [nextval 20]
			a: 1
			a: SELECT 1
			a: BEGIN
			a: INSERT 0 1
			a: [n 23]
			a: 1
			a: SELECT 1
			b: [pg_try_advisory_lock 16]
			b: t
			b: SELECT 1
			A: [pg_is_in_recovery 16]
			A: t
			A: SELECT 1
			A: [transaction_read_only 25]
			A: on
			A: SHOW
			A: [k 25, n 23]
			A: a, 1
			A: SELECT 1
			A: ERROR 25006: cannot execute INSERT in a read-only transaction
			A: ERROR 25006: cannot execute UPDATE in a read-only transaction
			A: ERROR 25006: cannot execute DELETE in a read-only transaction
			A: ERROR 25006: cannot execute SELECT FOR UPDATE in a read-only transaction
			A: ERROR 25006: cannot execute CREATE TABLE in a read-only transaction
			A: ERROR 25006: cannot execute CREATE SEQUENCE in a read-only transaction
			A: ERROR 25006: cannot execute DROP TABLE in a read-only transaction
			A: ERROR 25006: cannot execute nextval() in a read-only transaction
			A: [pg_try_advisory_lock 16]
			A: t
			A: SELECT 1
			A: [pg_is_in_recovery 16]
			A: f
			A: SELECT 1
			A: [transaction_read_only 25]
			A: off
			A: SHOW
			B: [pg_try_advisory_lock 16]
			B: f
			B: SELECT 1
			B: [n 23]
			B: 2
			B: UPDATE 1
			B: [nextval 20]
			B: 34
			B: SELECT 1
			a: COMMIT
			a: [n 23]
			a: 1
			a: 2
			a: SELECT 2
			B: [n 23]
			B: 2
			B: SELECT 1`,
	}},
	{synchronous: true, fidelity: fidelity{
		name: "a commit waits for a synchronous standby",
		script: `
			a! CREATE TABLE t (k text PRIMARY KEY, n int); CREATE SEQUENCE s; INSERT INTO t VALUES ('a', 1)
			=caught up
			=stop
			a: SET statement_timeout = '1s'
			a> UPDATE t SET n = 2 WHERE k = 'a'
			b: SELECT n FROM t
			b: SELECT pg_try_advisory_lock(1)
			b: SET lock_timeout = '100ms'
			b: UPDATE t SET n = 3 WHERE k = 'a'
			b: BEGIN
			b: SELECT 1
			b: COMMIT
			b> SELECT nextval('s')
			c: BEGIN
			c: INSERT INTO t VALUES ('b', 5)
			c: SELECT n FROM t WHERE k = 'b'
			c> COMMIT
			d: SELECT n FROM t
			=start
			a<
			b<
			c<
			d: SELECT n FROM t ORDER BY k
			=caught up
			A: SELECT n FROM t ORDER BY k`,
		want: `
			a: CREATE TABLE
			a: CREATE SEQUENCE
			a: INSERT 0 1
			a: SET
			a: waits
			b: [n 23]
			b: 1
			b: SELECT 1
			b: [pg_try_advisory_lock 16]
			b: t
			b: SELECT 1
			b: SET
			b: ERROR 55P03: canceling statement due to lock timeout
			b: BEGIN
			b: [?column? 23]
			b: 1
			b: SELECT 1
			b: COMMIT
			b: waits
			c: BEGIN
			c: INSERT 0 1
			c: [n 23]
			c: 5
			c: SELECT 1
			c: waits
			d: [n 23]
			d: 1
			d: SELECT 1
			a: UPDATE 1
			b: [nextval 20]
			b: 1
			b: SELECT 1
			c: COMMIT
			d: [n 23]
			d: 2
			d: 5
			d: SELECT 2
			A: [n 23]
			A: 2
			A: 5
			A: SELECT 2`,
	}},
}

// primaryAndStandby is a world with a primary and its standby, in which one client runs do.
// If sync is true, commits wait for the standby.
func primaryAndStandby(t *testing.T, sync bool, do func(ctx context.Context, p *sim.Program)) sim.Config {
	cfg := oneClient(t, do)
	cfg.Nodes = append(cfg.Nodes, sim.Node{Name: "standby", System: "postgres", ReplicaOf: "postgres-1"})
	if sync {
		cfg.Nodes[0].Settings = []string{"synchronous_standby_names=standby"}
	}
	return cfg
}

// TestStandbysOfSimulatedServers runs the scripts of standbys on simulated servers. Faults
// stop, start and promote the standby at fixed times, and the lines of the script wait for
// them.
func TestStandbysOfSimulatedServers(t *testing.T) {
	const stops, starts = time.Minute, 2 * time.Minute
	for _, f := range standbyScripts {
		t.Run(f.name, func(t *testing.T) {
			var answers string
			cfg := primaryAndStandby(t, f.synchronous, func(_ context.Context, p *sim.Program) {
				env := p.Env()
				dialNode := func(node int) func(context.Context, string, string) (net.Conn, error) {
					return func(ctx context.Context, _, _ string) (net.Conn, error) { return env.Dial(ctx, "tcp", env.Nodes[node]) }
				}
				s := &scriptRunner{t: t, dial: dialNode(0), standby: dialNode(1), actions: map[string]func(){
					"caught up": func() { time.Sleep(time.Second) },
					"stop":      func() { SleepUntil(stops + time.Second) },
					"start":     func() { SleepUntil(starts + 10*time.Second) },
					"promote":   func() { SleepUntil(stops + time.Second) },
				}}
				answers = s.play(f.script)
			})
			if strings.Contains(f.script, "=promote") {
				cfg = WithFaults(cfg, At(stops, &sim.Promote{Node: "standby"}))
			} else {
				cfg = WithFaults(cfg, Lasting(starts-stops, At(stops, CrashOf("standby", trace.Shutdown))))
			}
			AllFaultsStruck(t, RunWorld(t, cfg))
			f.compare(t, answers, f.want)
		})
	}
}

// TestACrashWhileACommitWaits checks a server that crashes while a commit is on the disk
// and waits for the standby. After the restart the transaction is committed, although no
// client has got a reply.
func TestACrashWhileACommitWaits(t *testing.T) {
	var answers string
	cfg := primaryAndStandby(t, true, func(_ context.Context, p *sim.Program) {
		env := p.Env()
		s := &scriptRunner{t: t, dial: func(ctx context.Context, _, _ string) (net.Conn, error) { return env.Dial(ctx, "tcp", env.Nodes[0]) }}
		answers = s.play(`
			a! CREATE TABLE t (k text PRIMARY KEY, n int); INSERT INTO t VALUES ('a', 1)
			a; 2s
			a> UPDATE t SET n = 2 WHERE k = 'a'
			b: SELECT n FROM t
			a<
			a; 5s
			c: SELECT n FROM t`)
	})
	tr := RunWorld(t, WithFaults(cfg,
		At(time.Second, &sim.Partition{Process: "standby", From: []string{"postgres-1"}}),
		Lasting(time.Second, At(10*time.Second, CrashOf("postgres-1", trace.Kill)))))
	AllFaultsStruck(t, tr)
	_, after, _ := strings.Cut(strings.Join(lines(answers), "\n"), "a: waits\n")
	Equal(t, "answers after the commit began to wait", after, "b: [n 23]\nb: 1\nb: SELECT 1\na: the connection is over\nc: [n 23]\nc: 2\nc: SELECT 1")
}

// TestStandbyCatchesUp checks a standby that lags, that is cut off, or whose primary was
// down. Until it catches up it has its old state. In the end it has every change.
func TestStandbyCatchesUp(t *testing.T) {
	for name, test := range map[string]struct {
		lag   time.Duration // how long after the primary the standby applies a change
		fault sim.Fault     // the zero fault: none
	}{
		"lag":       {5 * time.Second, sim.Fault{}},
		"partition": {0, Lasting(6*time.Second, At(500*time.Millisecond, &sim.Partition{Process: "standby", From: []string{"postgres-1"}}))},
		"crash":     {0, Lasting(6*time.Second, At(500*time.Millisecond, CrashOf("postgres-1", trace.Kill)))},
	} {
		t.Run(name, func(t *testing.T) {
			var answers string
			cfg := primaryAndStandby(t, false, func(_ context.Context, p *sim.Program) {
				env := p.Env()
				dialNode := func(node int) func(context.Context, string, string) (net.Conn, error) {
					return func(ctx context.Context, _, _ string) (net.Conn, error) { return env.Dial(ctx, "tcp", env.Nodes[node]) }
				}
				s := &scriptRunner{t: t, dial: dialNode(0), standby: dialNode(1)}
				s.play("a! CREATE TABLE t (n int); INSERT INTO t VALUES (1)")
				if name == "crash" {
					SleepUntil(7 * time.Second)
				} else {
					SleepUntil(time.Second)
				}
				s.play("a: UPDATE t SET n = 2")
				if name != "crash" {
					s.play("A: SELECT n FROM t")
				}
				SleepUntil(20 * time.Second)
				s.play("A: SELECT n FROM t")
				answers = s.answers.String()
			})
			cfg.Nodes[1].Lag = test.lag
			if test.fault.Action != nil {
				cfg = WithFaults(cfg, test.fault)
			}
			AllFaultsStruck(t, RunWorld(t, cfg))
			before := map[string]string{"lag": "A: ERROR 42P01: relation \"t\" does not exist\n", "partition": "A: [n 23]\nA: 1\nA: SELECT 1\n"}[name]
			Equal(t, "answers", strings.Join(lines(answers), "\n"), "a: CREATE TABLE\na: INSERT 0 1\na: UPDATE 1\n"+before+"A: [n 23]\nA: 2\nA: SELECT 1")
		})
	}
}
