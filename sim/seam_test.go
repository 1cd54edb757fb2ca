package sim_test

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// This package does not depend on the servers that it runs: none of its files, and none of
// the files that its tests use, imports a server or a client of a server.
func TestPackageImportsNoServer(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	testkit, err := filepath.Glob("../internal/testkit/simtest/*.go")
	if err != nil || len(files) < 50 || len(testkit) < 4 {
		t.Fatalf("found %d files of the package and %d of simtest, want at least 50 and 4; the error is %v", len(files), len(testkit), err)
	}
	for _, name := range append(files, testkit...) {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range file.Imports {
			for _, server := range []string{"redis", "/servers/", "/libraries"} {
				if strings.Contains(i.Path.Value, server) {
					t.Errorf("%s imports %s, want no package of a server", name, i.Path.Value)
				}
			}
		}
	}
}
