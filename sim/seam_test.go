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
func TestTheWorldKnowsNoServer(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	told, err := filepath.Glob("../internal/testkit/simtest/*.go")
	if err != nil || len(files) < 50 || len(told) < 4 {
		t.Fatalf("there are %d files and %d of its tests' words, %v", len(files), len(told), err)
	}
	for _, name := range append(files, told...) {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range file.Imports {
			for _, server := range []string{"redis", "/servers/", "/libraries"} {
				if strings.Contains(i.Path.Value, server) {
					t.Errorf("%s imports %s", name, i.Path.Value)
				}
			}
		}
	}
}
