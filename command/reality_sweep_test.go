//go:build linux

package command

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/reality"
)

func init() { testPrograms["grants-always"] = grantAlways }

// grantAlways is the program of a client whose lock is granted to everybody. Only client-2
// sets the key, so no message of client-1 can be late.
func grantAlways() {
	var key, name string
	var server net.Conn
	answers := map[string]string{reality.Init: reality.Ready, reality.Acquire: reality.Acquired, reality.Release: reality.Released}
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for c := (reality.Command{}); in.Decode(&c) == nil; c = (reality.Command{}) {
		switch {
		case c.Type == reality.Init:
			key, name = c.Key, c.Client
			server, _ = net.Dial("tcp", c.Servers[0])
		case c.Type == reality.Acquire && name == "client-2":
			fmt.Fprintf(server, "SET %s %s\r\n", key, name)
			_, _ = server.Read(make([]byte, 10))
		}
		a := reality.Answer{Type: answers[c.Type]}
		if a.Type == "" {
			a.Type = reality.OK
		}
		_ = out.Encode(a)
	}
}

// A sweep fails if the lock is to blame although there is no fault, and says that there was
// no message to play a fault at.
func TestSweepOfALockThatExcludesNobody(t *testing.T) {
	requireRedis(t)
	folder, err := os.MkdirTemp("/tmp", "reality")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "both.yaml")
	const both = "title: Both work\nlock: {kind: single, ttl: 1s, nodes: 1}\nclients:\n  client-1: {works: 150ms}\n  client-2: {works: 150ms}\n"
	if err := os.WriteFile(file, []byte(both), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("locksim", "reality", file, "--sweep", "--client", "grants-always")
	cmd.Env = append(os.Environ(), "TMPDIR="+folder)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "no message between client-1 and the servers was seen") || !strings.Contains(string(out), "\n1  acquire grants the lock although the server did not\n   in 1 play;") {
		t.Errorf("the sweep ended with %v, want status 1, and printed\n%s", err, out)
	}
}

// A sweep plays no fault of the scenario, so one that cannot be played does not matter.
func TestPlanOfASweep(t *testing.T) {
	for sweeps, want := range map[bool]string{true: "", false: "cannot be played"} {
		found, err := load([]string{"clock-jump"})
		if err != nil {
			t.Fatal(err)
		}
		f := &realityFlags{sweeps: sweeps}
		_, err = f.plan(io.Discard, jobsOf(found, nil))
		if got := fmt.Sprint(err); want == "" && err != nil || !strings.Contains(got, want) {
			t.Errorf("with sweeps: %v the error is %v, want one with %q", sweeps, err, want)
		}
	}
}
