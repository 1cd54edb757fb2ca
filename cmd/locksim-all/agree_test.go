package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locksim/locksim/scenarios"
)

// The command that README.md builds knows the same locks and scenarios as this one. For
// scenarios that both can run, their output is equal, byte for byte.
func TestProgramsAgree(t *testing.T) {
	if testing.Short() {
		t.Skip("this test runs most of the catalogue, twice")
	}
	all := os.Getenv("PATH")
	useReadmeCommand(t)
	shared := sharedScenarios(t)
	commands := [][]string{
		{"list"}, {"list", "--format", "json"}, {"validate", root + "/scenarios"},
		{"__complete", "run", ""}, {"__complete", "explore", "--lock", ""}, {"__complete", "matrix", "--lock", "redlock,"},
		{"__complete", "run", "sqlite-gc-pause", "--variant", ""},
		{"run", shared, "--format", "json"}, // this format contains the hash of each trace
	}
	// The outputs of the command that README.md builds.
	small := make([]string, len(commands))
	for i, c := range commands {
		small[i] = runOutput(t, c...)
	}
	t.Setenv("PATH", all)
	for i, c := range commands {
		if got := runOutput(t, c...); got != small[i] {
			t.Errorf("locksim %s prints something else in the other program:\n%s", strings.Join(c, " "), firstDifference(got, small[i]))
		}
	}
}

// sharedScenarios returns a folder with the scenarios of the catalogue that the program in
// PATH can run, because it contains all their locks.
func sharedScenarios(t *testing.T) string {
	t.Helper()
	missing := map[string]bool{}
	_, absent, _ := strings.Cut(runOutput(t, "version"), "not linked in: the locks ")
	absent, _, _ = strings.Cut(absent, ";")
	for name := range strings.SplitSeq(absent, ", ") {
		missing[name] = true
	}
	dir := t.TempDir()
	runnable := 0
	for _, s := range scenarios.Embedded() {
		canRun := true
		for _, v := range s.Variants {
			canRun = canRun && !missing[v.Lock]
		}
		if !canRun {
			continue
		}
		runnable++
		text, err := fs.ReadFile(os.DirFS(filepath.Join(root, "scenarios")), s.Name+".yaml")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, s.Name+".yaml"), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if runnable < 100 || runnable == len(scenarios.Embedded()) {
		t.Errorf("the program in PATH can run %d of %d scenarios, want at least 100, but not all", runnable, len(scenarios.Embedded()))
	}
	return dir
}
