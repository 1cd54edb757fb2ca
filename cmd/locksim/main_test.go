package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"locksim": main})
}

// TestScript runs the command as people do: each file in testdata/script shows
// command lines, the files they read and what they print.
func TestScript(t *testing.T) {
	catalogue, err := filepath.Abs("../../scenarios")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("CATALOGUE", catalogue)
			return os.Mkdir(filepath.Join(env.WorkDir, "empty"), 0o777)
		},
	})
}
