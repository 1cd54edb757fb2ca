package reality

import (
	"errors"
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

// A server whose port is taken for a moment is started again. Any other error is returned at once.
func TestStartAtPort(t *testing.T) {
	taken, broken := errors.New("etcd ended at once: bind: Address already in use"), errors.New("etcd ended at once: no space left")
	for _, c := range []struct {
		errs   []error // of the starts, in order; then each start succeeds
		want   error
		starts int
	}{
		{nil, nil, 1},
		{[]error{taken, taken}, nil, 3},
		{[]error{broken}, broken, 1},
		{[]error{taken, taken, taken, taken, taken, taken}, taken, 5},
	} {
		s := &startedServer{errs: c.errs}
		if err := startAtPort(s); err != c.want || s.starts != c.starts {
			t.Errorf("with the errors %v, the server is started %d times, with the error %v; want %d and %v", c.errs, s.starts, err, c.starts, c.want)
		}
	}
}

// A startedServer is a server that counts its starts.
type startedServer struct {
	server
	errs   []error
	starts int
}

func (s *startedServer) start() error {
	s.starts++
	if s.starts <= len(s.errs) {
		return s.errs[s.starts-1]
	}
	return nil
}
