package reality_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/reality"
	"github.com/locksim/locksim/trace"
)

// requireFaketime skips a test that sets a client's clock if libfaketime or the interpreter of
// the client's program is not installed, unless libfaketime must be.
func requireFaketime(t *testing.T, interpreter string) {
	t.Helper()
	requireRedis(t)
	libraries, _ := filepath.Glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
	if len(libraries) == 0 {
		if os.Getenv("LOCKSIM_REQUIRE_FAKETIME") != "" {
			t.Fatal("there is no libfaketime")
		}
		t.Skip("there is no libfaketime")
	}
	if _, err := exec.LookPath(interpreter); err != nil {
		t.Skip(err)
	}
}

// A fault sets the wall clock of a program that runs, ahead or back, and not its monotonic clock.
// Another client's clock stays as it is.
func TestSetClockOfAProgram(t *testing.T) {
	for interpreter, file := range map[string]string{"node": "elapsed.js", "python3": "elapsed.py", "java": "Elapsed.java"} {
		t.Run(interpreter, func(t *testing.T) {
			requireFaketime(t, interpreter)
			command := func() *exec.Cmd { return exec.Command("sh", "-c", interpreter+" testdata/"+file) }
			tr, err := playCommand(t, command, `clients:
  client-1: {works: 200ms, extends-every: 100ms, attempts: 1}
  client-2: {works: 200ms, extends-every: 100ms, attempts: 1}
  client-3: {works: 200ms, extends-every: 100ms, attempts: 1}
faults:
  - {after: client-1 acquired, jump: client-1, by: 1h}
  - {after: client-2 acquired, jump: client-2, by: -1h}
`)
			if err != nil {
				t.Fatal(err)
			}
			const hour = 3_600_000
			wants := map[string]int{"client-1": hour, "client-2": -hour, "client-3": 0}
			for _, ev := range tr.Events {
				want, exists := wants[ev.Process]
				if !exists || ev.Kind != trace.KindEnd || ev.Step != trace.Extend {
					continue
				}
				delete(wants, ev.Process)
				var wall, monotonic int
				if _, err := fmt.Sscan(ev.Text, &wall, &monotonic); err != nil || monotonic < 50 || monotonic > hour/2 || wall-monotonic-want > 1000 || wall-monotonic-want < -1000 {
					t.Errorf("%s: since the grant passed %q ms by the two clocks, %v; want the first to be %d more than the second", ev.Process, ev.Text, err, want)
				}
			}
			if len(wants) > 0 {
				t.Errorf("these clients have not extended their leases: %v", wants)
			}
		})
	}
}

// The step check reads the client's clock, if its program has declared the end of the lease.
func TestCheckByASetClock(t *testing.T) {
	requireFaketime(t, "node")
	command := func() *exec.Cmd { return exec.Command("node", "testdata/elapsed.js") }
	for _, c := range []struct {
		by, works string
		want      bool
	}{
		{"1s", "100ms", false},
		{"-1s", "600ms", true},
	} {
		tr, err := playCommand(t, command, `clients:
  client-1: {works: `+c.works+`, does: [check, work, check]}
faults:
  - {after: client-1 checked, jump: client-1, by: `+c.by+"}\n")
		if err != nil {
			t.Fatal(err)
		}
		var passed []bool
		for _, ev := range tr.Events {
			if ev.Kind == trace.KindEnd && ev.Step == trace.Check {
				passed = append(passed, ev.OK)
			}
		}
		if len(passed) != 2 || !passed[0] || passed[1] != c.want {
			t.Errorf("after a jump by %s the two checks are passed: %v; want true and %v", c.by, passed, c.want)
		}
	}
}

// The clock of a program in Go cannot be set, and neither can that of a program with one
// process in Go.
func TestSetClockOfAProgramInGo(t *testing.T) {
	requireFaketime(t, "sh")
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(roleVariable, "plain")
	for _, command := range []string{"exec " + own, own + "; exit 0"} {
		_, err = playCommand(t, func() *exec.Cmd { return exec.Command("sh", "-c", command) },
			"clients:\n  client-1: {}\nfaults:\n  - {after: client-1 acquired, jump: client-1, by: 1s}\n")
		if err == nil || !strings.Contains(err.Error(), "does not ask libfaketime for the time") {
			t.Errorf("%s: the error is %v", command, err)
		}
	}
}

// A fault that sets the clock of a client with a lock of locksim is refused, and so is one that
// sets the clock of a Redis server.
func TestCheckOfAJump(t *testing.T) {
	for name, want := range map[string]string{"client-1": "whose program is in Go", "redis-1": "only the clocks of PostgreSQL servers"} {
		err := reality.Check(worldOf(t, "clients:\n  client-1: {}\nfaults:\n  - {at: 1s, jump: "+name+", by: 1s}\n"), false)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v, want one with %q", name, err, want)
		}
	}
}
