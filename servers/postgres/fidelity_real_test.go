//go:build unix

package postgres_test

import (
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

// The scripts, on a real server: PostgreSQL 15, as Debian has it. Each has a database of its
// own.
func TestFidelityOfRealPostgres(t *testing.T) {
	dial := realPostgres(t)
	admin, err := connect(dial, "postgres", func(*pgconn.Notice) {})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { admin.Close(context.Background()) })
	var one sync.Mutex
	waits := func(pid uint32) (waits, gone bool) {
		one.Lock()
		defer one.Unlock()
		r := admin.ExecParams(context.Background(), "SELECT coalesce(wait_event_type = 'Lock', false) FROM pg_stat_activity WHERE pid = $1",
			[][]byte{[]byte(fmt.Sprint(pid))}, nil, nil, nil).Read()
		if r.Err != nil {
			t.Errorf("who waits for what: %v", r.Err)
			return true, true
		}
		return len(r.Rows) > 0 && string(r.Rows[0][0]) == "t", len(r.Rows) == 0
	}
	for i, f := range fidelities {
		database := fmt.Sprint("script", i)
		if _, err := admin.Exec(context.Background(), "CREATE DATABASE "+database).ReadAll(); err != nil {
			t.Fatal(err)
		}
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			want := f.want
			if f.real != "" {
				want = f.real
			}
			f.compare(t, (&script{t: t, dial: dial, database: database, waits: waits}).play(f.script), want)
		})
	}
}

// realPostgres starts a server, and says how it is reached.
func realPostgres(t *testing.T) pgconn.DialFunc {
	programs := "/usr/lib/postgresql/15/bin"
	if _, err := os.Stat(programs + "/initdb"); err != nil {
		if os.Getenv("LOCKSIM_REQUIRE_POSTGRES") != "" {
			t.Fatalf("there is no PostgreSQL 15 to compare with: %v; on Debian 12: apt-get install postgresql", err)
		}
		t.Skip("there is no PostgreSQL 15 to compare with")
	}
	// A socket's path must be short, and a server does not run as root.
	dir, err := os.MkdirTemp("/tmp", "pg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	attr := &syscall.SysProcAttr{}
	if os.Getuid() == 0 {
		const nobody = 65534
		if err := os.Chown(dir, nobody, nobody); err != nil {
			t.Fatal(err)
		}
		attr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	command := func(name string, args ...string) *exec.Cmd {
		c := exec.Command(filepath.Join(programs, name), args...)
		c.Dir, c.SysProcAttr = dir, attr
		c.Env = []string{"LC_ALL=C", "TZ=UTC", "PATH=" + os.Getenv("PATH")}
		return c
	}
	data := filepath.Join(dir, "data")
	if out, err := command("initdb", "-D", data, "-U", "locksim", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C").CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	said := func() string {
		text, _ := os.ReadFile(log.Name())
		return string(text)
	}
	server := command("postgres", "-D", data, "-k", dir, "-h", "", "-F", "-c", "timezone=UTC")
	server.Stdout, server.Stderr = log, log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Signal(syscall.SIGINT)
		server.Wait()
		log.Close()
		if t.Failed() && testing.Verbose() {
			t.Logf("the server's log:\n%s", said())
		}
	})
	socket := filepath.Join(dir, ".s.PGSQL.5432")
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(socket); err == nil && strings.Contains(said(), "ready to accept connections") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the server does not start:\n%s", said())
		}
	}
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}
}
