package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A reader without a clone does the exercises with a release of locksim: the lock that learn
// new writes fails, and the model solution of stage 3 reaches stage 3.
func TestExercisesWithARelease(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds modules")
	}
	user := newUserModule(t, "example.com/user")
	user.runGo(t, "mod", "edit", "-require=github.com/locksim/locksim/cmd/locksim@"+nextVersion)
	dir := t.TempDir()
	lock := &userModule{dir: filepath.Join(dir, "lock"), env: user.env}
	learn := func(args ...string) string {
		return user.runGo(t, append([]string{"run", "github.com/locksim/locksim/cmd/locksim@" + nextVersion, "learn"}, args...)...)
	}
	learn("new", lock.dir)
	learn("solutions", filepath.Join(dir, "solutions"))
	mod, err := os.ReadFile(filepath.Join(lock.dir, "go.mod"))
	if err != nil || strings.Contains(string(mod), "replace") {
		t.Errorf("go.mod replaces modules; that is for a clone only: %v\n%s", err, mod)
	}
	solution, err := os.ReadFile(filepath.Join(dir, "solutions", "3-script", "lock.go"))
	if err == nil {
		err = os.WriteFile(filepath.Join(lock.dir, "lock.go"), solution, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	lock.runGo(t, "mod", "tidy")
	before := filesOf(t, lock.dir)
	out := learn("check", lock.dir, "--stage", "3")
	if !strings.Contains(out, "The lock has reached stage 3 of 7. Stage 4 is elapsed check.\n") {
		t.Errorf("learn check says\n%s", out)
	}
	if after := filesOf(t, lock.dir); after != before {
		t.Errorf("learn check has changed the folder: it had %s, and has %s", before, after)
	}
}

// filesOf lists the files in a folder, with their times.
func filesOf(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e.Name()+" "+info.ModTime().String())
	}
	return strings.Join(all, ", ")
}
