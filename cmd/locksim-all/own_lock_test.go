package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A user's module with a main function of a few lines and a lock of its own is a complete
// locksim: all its commands know the lock.
func TestUsersOwnLock(t *testing.T) {
	if testing.Short() {
		t.Skip("this test builds a module")
	}
	s := newUserModule(t, "example.com/mine")
	if err := os.CopyFS(s.dir, os.DirFS("../../command/testdata/mine")); err != nil {
		t.Fatal(err)
	}
	s.runGo(t, "get", "github.com/locksim/locksim/command@"+nextVersion, "github.com/locksim/locksim/libraries@"+nextVersion)
	s.runGo(t, "mod", "tidy")
	s.runGo(t, "build", "-o", "mine", ".")
	for _, c := range []struct {
		args   string
		status int
		says   string // a regular expression for the output
	}{
		{"version", 0, `^locksim ` + regexp.QuoteMeta(nextVersion) + ` go\S+, in example.com/mine \(devel\)\n`},
		{"version", 0, `\nsystems: redis\n`},
		{"__complete run --lock mi", 0, `(?m)^mine$`},
		{"list --lock mine", 0, "no built-in scenario fits all filters"},
		{"run gc-pause --lock mine", 0, `\n  lock +mine on 1 node, TTL 30s\n`},
		{"explain gc-pause --lock mine", 0, `\nreplay: locksim explain gc-pause --seed 1 --lock mine\n`},
		{"matrix gc-pause --lock mine,redsync", 0, `\n gc-pause +✓✗ ✗→✓ +✓✗ ✗→✓\n`},
		{"compare same-gc-pause --lock mine,redlock --seeds 2", 0, `\n  mine +✗ → ✓\n`},
		{"explore --lock mine --max-faults 1 --only pause --ways ways", 1, `(?m)^mine on 1 node, TTL 30s: [0-9]+ ways to break it$`},
		{"run ways", 0, `, 0 not as expected`},
		{"run etcd-gc-pause", 2, `  locksim-all run etcd-gc-pause\n`},
		{"run gc-pause --lock mien", 2, `did you mean "mine"\?`},
	} {
		cmd := exec.CommandContext(t.Context(), filepath.Join(s.dir, "mine"), strings.Fields(c.args)...)
		cmd.Dir = s.dir
		out, _ := cmd.CombinedOutput()
		if status := cmd.ProcessState.ExitCode(); status != c.status || !regexp.MustCompile(c.says).Match(out) {
			t.Errorf("mine %s: status %d, want %d, and output that matches %q:\n%.3000s", c.args, status, c.status, c.says, out)
		}
	}
}
