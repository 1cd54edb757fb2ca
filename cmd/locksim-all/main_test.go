package main

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"locksim": main})
}

// TestScript runs the whole catalogue, which only the program with all locks can do.
func TestScript(t *testing.T) {
	if testing.Short() {
		t.Skip("this test runs the catalogue three times")
	}
	catalogue, err := filepath.Abs("../../scenarios")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"links": checkLinks},
		Setup: func(env *testscript.Env) error {
			env.Setenv("CATALOGUE", catalogue)
			return nil
		},
	})
}
