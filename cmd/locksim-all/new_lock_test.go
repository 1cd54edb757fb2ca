package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A reader of the documentation gets a lock that passes, on each system: with a release of
// locksim, and with a clone.
func TestNewLockPasses(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds modules")
	}
	clone, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	user := newUserModule(t, "example.com/user")
	user.runGo(t, "mod", "edit", "-require=github.com/locksim/locksim/cmd/locksim@"+nextVersion)
	for _, system := range []string{"redis", "etcd", "zookeeper", "consul", "postgres", "sqlite", "kubernetes"} {
		t.Run(system, func(t *testing.T) {
			lock := &userModule{dir: filepath.Join(t.TempDir(), "mylock"), env: user.env}
			newLock := []string{"run", "github.com/locksim/locksim/cmd/locksim@" + nextVersion, "new", "lock", lock.dir, "--on", system}
			if system == "sqlite" { // one of them with a clone
				newLock = append(newLock, "--clone", clone)
			}
			user.runGo(t, newLock...)
			lock.runGo(t, "mod", "tidy")
			out := lock.runGo(t, "test", "-v", ".")
			if !strings.Contains(out, "TestLock: no failure in ") || strings.Contains(out, " in 0 worlds") {
				t.Errorf("the test does not say that it has run and passed:\n%s", out)
			}
			mod, err := os.ReadFile(filepath.Join(lock.dir, "go.mod"))
			if err != nil {
				t.Fatal(err)
			}
			if hasReplace := strings.Contains(string(mod), "replace"); hasReplace != (system == "sqlite") {
				t.Errorf("go.mod replaces modules: %v; that is for a clone only:\n%s", hasReplace, mod)
			}
		})
	}
}
