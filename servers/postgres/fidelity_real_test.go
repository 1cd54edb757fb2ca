//go:build unix

package postgres_test

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// TestFidelityOfRealPostgres runs the scripts on a real server: PostgreSQL 15, which is
// Debian 12's version. Each script has its own database.
func TestFidelityOfRealPostgres(t *testing.T) {
	server := realPostgres(t)
	admin := server.admin(t)
	for i, f := range fidelityScripts {
		database := fmt.Sprint("script", i)
		admin.must("CREATE DATABASE " + database)
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			want := f.want
			if f.real != "" {
				want = f.real
			}
			f.compare(t, (&scriptRunner{t: t, dial: server.dial, database: database, waits: admin.waits}).play(f.script), want)
		})
	}
}

// TestStandbysOfRealPostgres runs the scripts of standbys on real servers.
func TestStandbysOfRealPostgres(t *testing.T) {
	for _, f := range standbyScripts {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			primary := realPostgres(t)
			admin := primary.admin(t)
			standby := primary.standby(t)
			// From here on commits wait for the standby.
			if f.synchronous {
				admin.must("ALTER SYSTEM SET synchronous_standby_names = 'walreceiver'")
				admin.must("SELECT pg_reload_conf()")
			}
			s := &scriptRunner{t: t, dial: primary.dial, standby: standby.dial, database: "postgres", waits: admin.waits, actions: map[string]func(){
				"caught up": func() {
					admin.until("SELECT bool_and(replay_lsn >= pg_current_wal_flush_lsn()) FROM pg_stat_replication")
				},
				"stop":  standby.stop,
				"start": func() { standby.start() },
				"promote": func() {
					other := standby.admin(t)
					other.must("SELECT pg_promote()")
				},
			}}
			f.compare(t, s.play(f.script), f.want)
		})
	}
}

// TestPoolerScriptsOnRealPgBouncer runs the scripts of a pooler on a real PgBouncer in front
// of a real server. Debian 12 has version 1.18, which does not track prepared statements.
// The scripts use none.
func TestPoolerScriptsOnRealPgBouncer(t *testing.T) {
	server := realPostgres(t)
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		if os.Getenv("LOCKSIM_REQUIRE_PGBOUNCER") != "" {
			t.Fatalf("there is no PgBouncer to compare with: %v; on Debian 12: apt-get install pgbouncer", err)
		}
		t.Skip("there is no PgBouncer to compare with")
	}
	admin := server.admin(t)
	for i, f := range poolerScripts {
		database := fmt.Sprint("pool", i)
		admin.must("CREATE DATABASE " + database)
		t.Run(f.name, func(t *testing.T) {
			dial := server.pooler(program, database, cmp.Or(f.size, 20))
			f.compare(t, (&scriptRunner{t: t, dial: dial, database: database}).play(f.script), f.want)
		})
	}
}

// pooler starts a PgBouncer in front of the server, which opens at most size sessions. It
// returns the func that connects to the PgBouncer.
func (r *realServer) pooler(program, name string, size int) pgconn.DialFunc {
	dir := filepath.Join(r.dir, name)
	if err := os.Mkdir(dir, 0o777); err != nil {
		r.t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil { // PgBouncer does not run as root
		r.t.Fatal(err)
	}
	config := filepath.Join(dir, "ini")
	if err := os.WriteFile(config, fmt.Appendf(nil, `[databases]
* = host=%s port=5432 user=locksim
[pgbouncer]
unix_socket_dir = %s
listen_port = 5432
auth_type = any
pool_mode = transaction
default_pool_size = %d
`, r.dir, dir, size), 0o644); err != nil {
		r.t.Fatal(err)
	}
	c := exec.Command(program, config)
	c.Dir, c.SysProcAttr = dir, r.attr
	if err := c.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	socket := filepath.Join(dir, ".s.PGSQL.5432")
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if c, err := net.Dial("unix", socket); err == nil { // the socket exists before PgBouncer listens
			_ = c.Close()
			break
		}
		if time.Now().After(deadline) {
			r.t.Fatal("PgBouncer has not started after 30 s")
		}
	}
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}
}

// realServer is a real server with its directories and its process.
type realServer struct {
	t      *testing.T
	dir    string               // the directory with its socket
	data   string               // the directory with its data
	attr   *syscall.SysProcAttr // the user that its programs run as
	server *exec.Cmd            // nil if it does not run
	dial   pgconn.DialFunc
}

// programs is the folder with the programs of PostgreSQL 15 on Debian.
const programs = "/usr/lib/postgresql/15/bin"

// realPostgres starts a real server. It skips the test if PostgreSQL is not installed,
// unless LOCKSIM_REQUIRE_POSTGRES is set.
func realPostgres(t *testing.T) *realServer {
	if testing.Short() {
		t.Skip("each real server takes seconds to start")
	}
	if _, err := os.Stat(programs + "/initdb"); err != nil {
		if os.Getenv("LOCKSIM_REQUIRE_POSTGRES") != "" {
			t.Fatalf("there is no PostgreSQL 15 to compare with: %v; on Debian 12: apt-get install postgresql", err)
		}
		t.Skip("there is no PostgreSQL 15 to compare with")
	}
	r := newRealServer(t)
	r.execute("initdb", "-D", r.data, "-U", "locksim", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C")
	r.start()
	return r
}

// standby starts a standby of the server, from a copy of its data.
func (r *realServer) standby(t *testing.T) *realServer {
	s := newRealServer(t)
	s.execute("pg_basebackup", "-h", r.dir, "-U", "locksim", "-D", s.data, "-R", "--no-sync", "--checkpoint=fast")
	s.start()
	return s
}

// newRealServer returns a server that is not started yet and has no data.
func newRealServer(t *testing.T) *realServer {
	// The path of a socket must be short, and the server does not run as root.
	dir, err := os.MkdirTemp("/tmp", "pg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	r := &realServer{t: t, dir: dir, data: filepath.Join(dir, "data"), attr: &syscall.SysProcAttr{}}
	if os.Getuid() == 0 {
		const nobody = 65534
		if err := os.Chown(dir, nobody, nobody); err != nil {
			t.Fatal(err)
		}
		r.attr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	r.dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", r.socket())
	}
	t.Cleanup(r.stop)
	return r
}

func (r *realServer) socket() string { return filepath.Join(r.dir, ".s.PGSQL.5432") }

func (r *realServer) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(programs, name), args...)
	c.Dir, c.SysProcAttr = r.dir, r.attr
	c.Env = []string{"LC_ALL=C", "TZ=UTC", "PATH=" + os.Getenv("PATH")}
	return c
}

func (r *realServer) execute(name string, args ...string) {
	r.t.Helper()
	if out, err := r.command(name, args...).CombinedOutput(); err != nil {
		r.t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

func (r *realServer) start() {
	log, err := os.Create(filepath.Join(r.dir, "log"))
	if err != nil {
		r.t.Fatal(err)
	}
	defer log.Close()
	r.server = r.command("postgres", "-D", r.data, "-k", r.dir, "-h", "", "-F", "-c", "timezone=UTC")
	r.server.Stdout, r.server.Stderr = log, log
	if err := r.server.Start(); err != nil {
		r.t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		output, _ := os.ReadFile(log.Name())
		if _, err := os.Stat(r.socket()); err == nil && strings.Contains(string(output), "ready to accept") {
			return
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("the server has not started after 30 s:\n%s", output)
		}
	}
}

// stop stops the server, which ends its connections.
func (r *realServer) stop() {
	if r.server == nil {
		return
	}
	_ = r.server.Process.Signal(syscall.SIGINT)
	_ = r.server.Wait()
	r.server = nil
	if output, _ := os.ReadFile(filepath.Join(r.dir, "log")); r.t.Failed() && testing.Verbose() {
		r.t.Logf("the server's log:\n%s", output)
	}
}

// An admin is a session that is not part of the scripts. Scripts that run in parallel share
// it.
type admin struct {
	t     *testing.T
	conn  *pgconn.PgConn
	mutex *sync.Mutex // held while conn is used
}

func (r *realServer) admin(t *testing.T) admin {
	c, err := connect(r.dial, "postgres", func(*pgconn.Notice) {})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	return admin{t, c, &sync.Mutex{}}
}

// ask returns the first value of a statement's result; false if the result is empty.
func (a admin) ask(text string, args ...string) (string, bool, error) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	var params [][]byte
	for _, arg := range args {
		params = append(params, []byte(arg))
	}
	r := a.conn.ExecParams(context.Background(), text, params, nil, nil, nil).Read()
	if r.Err != nil || len(r.Rows) == 0 {
		return "", false, r.Err
	}
	return string(r.Rows[0][0]), true, nil
}

// must executes a statement, and fails the test if that fails.
func (a admin) must(text string) {
	if _, _, err := a.ask(text); err != nil {
		a.t.Fatalf("%s: %v", text, err)
	}
}

// until waits until a query returns true, and fails the test after 30 s.
func (a admin) until(text string) {
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		value, _, err := a.ask(text)
		if err != nil || time.Now().After(deadline) {
			a.t.Fatalf("%s: got %q with the error %v, want t", text, value, err)
		}
		if value == "t" {
			return
		}
	}
}

// waits reports whether a session waits for a lock or a standby, and whether it has ended.
func (a admin) waits(pid uint32) (waits, gone bool) {
	waiting, exists, err := a.ask("SELECT coalesce(wait_event_type = 'Lock' OR wait_event = 'SyncRep', false) FROM pg_stat_activity WHERE pid = $1", fmt.Sprint(pid))
	if err != nil {
		a.t.Errorf("pg_stat_activity does not tell whether the session with PID %d waits: %v", pid, err)
		return true, true
	}
	return waiting == "t", !exists
}
