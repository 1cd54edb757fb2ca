package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// In a module of its own, a lock that locksim new lock has written, with its test, catches
// the mutants of the lock. A test that runs one test case only does not.
func TestMutateNewLock(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a module, and tests several mutants")
	}
	lock := newUserModule(t, "example.com/user")
	bin := filepath.Join(t.TempDir(), "locksim")
	lock.runGo(t, "mod", "edit", "-require=github.com/locksim/locksim/cmd/locksim@"+nextVersion)
	lock.runGo(t, "build", "-o", bin, "-mod=mod", "github.com/locksim/locksim/cmd/locksim")
	lock.dir = filepath.Join(t.TempDir(), "mylock")
	run := func(status int, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), bin, args...)
		cmd.Dir, cmd.Env = lock.dir, lock.env
		out, _ := cmd.CombinedOutput()
		if got := cmd.ProcessState.ExitCode(); got != status {
			t.Fatalf("locksim %s: status %d, want %d:\n%s", strings.Join(args, " "), got, status, out)
		}
		return string(out)
	}
	if err := os.Mkdir(lock.dir, 0o777); err != nil {
		t.Fatal(err)
	}
	run(0, "new", "lock", ".", "--on", "redis")
	lock.runGo(t, "mod", "tidy")
	test := filepath.Join(lock.dir, "lock_test.go")
	before := readFiles(t, lock.dir)

	out := run(0, "mutate", "--only", "drop-comparison,no-clean-up")
	for _, want := range []string{
		"drop-comparison  caught  TestLock: release removes the key of another acquisition\n",
		"no-clean-up      caught  TestLock: acquire fails and leaves its key behind\n",
		"\ncaught 2 of 2\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the output does not contain %q:\n%s", want, out)
		}
	}
	if after := readFiles(t, lock.dir); after != before {
		t.Errorf("the files of the module were\n%s\nand are\n%s", before, after)
	}

	// A library in the module cache is a source, too. To run its mutants takes minutes.
	out = run(0, "mutate", "--list", "--source", "github.com/redis/go-redis/v9", "--file", "script.go", "--only", "ignore-answer")
	if want := "\ngithub.com/redis/go-redis/v9@v"; !strings.Contains(out, want) {
		t.Errorf("the output does not contain %q:\n%s", want, out)
	}

	text, err := os.ReadFile(test)
	if err != nil {
		t.Fatal(err)
	}
	weak := strings.Replace(string(text), "locktest.Config{", `locktest.Config{Stories: func(name string) bool { return name == "loss/release" },`, 1)
	if err := os.WriteFile(test, []byte(weak), 0o666); err != nil {
		t.Fatal(err)
	}
	out = run(1, "mutate", "--only", "drop-comparison,no-clean-up")
	if want := "\ncaught 1 of 2\n\nsurvived: lock.go:"; !strings.Contains(out, want) {
		t.Errorf("the output does not contain %q:\n%s", want, out)
	}
}

// readFiles returns the names and the contents of the files of a folder.
func readFiles(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString(e.Name() + "\n" + string(text) + "\n")
	}
	return all.String()
}
