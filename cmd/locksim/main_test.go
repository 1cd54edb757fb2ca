package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"locksim": main})
}

// TestScript runs the command as people do: each file in testdata/script contains command
// lines, the files that they read, and the output.
func TestScript(t *testing.T) { run(t, "testdata/script") }

// TestLongScript runs the scripts that take seconds each.
func TestLongScript(t *testing.T) {
	if testing.Short() {
		t.Skip("each of its scripts takes seconds")
	}
	run(t, "testdata/long")
}

// run runs all scripts in a folder.
func run(t *testing.T, folder string) {
	catalogue, err := filepath.Abs("../../scenarios")
	if err != nil {
		t.Fatal(err)
	}
	cache, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 folder,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("CATALOGUE", catalogue)
			env.Setenv("GOCACHE", strings.TrimSpace(string(cache))) // for scripts that compile
			return os.Mkdir(filepath.Join(env.WorkDir, "empty"), 0o777)
		},
	})
}
