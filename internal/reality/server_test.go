package reality

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
)

// guardOf starts a guard for a test, which does not clean up.
func guardOf(t *testing.T, folder string) *guard {
	t.Helper()
	g, err := startGuard(exec.Command("cat"), folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.close)
	return g
}

// A PostgreSQL server that is shut down ends although clients have sessions: the harness
// itself has one.
func TestShutdownOfPostgres(t *testing.T) {
	if testing.Short() {
		t.Skip("making a database takes seconds")
	}
	if _, err := findPostgres(); err != nil {
		t.Skip("there is no PostgreSQL")
	}
	folder, err := os.MkdirTemp("/tmp", folderPrefix)
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	g := guardOf(t, folder)
	r := &run{folder: folder, guard: g, options: Options{Setup: 20 * time.Second}}
	n, err := r.newNode(0, sim.Node{Name: "postgres-1", System: locks.Postgres})
	if err != nil {
		t.Fatal(err)
	}
	if err := n.server.start(); err != nil {
		t.Fatal(err)
	}
	defer n.server.process().kill()
	n.server.shutDown()
	select {
	case <-n.server.process().exited:
	case <-time.After(5 * time.Second):
		t.Error("5 s after its shutdown, the server still runs")
	}
}
