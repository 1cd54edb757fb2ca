package locktest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

// A lease can implement other interfaces in addition to locks.Lease. Each of them has a row
// in a table of the documents.
func TestInterfacesOfLeasesAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/testing-your-lock.md")
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), "../locks/locks.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	all := 0
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.TYPE {
			continue
		}
		for _, spec := range g.Specs {
			typ := spec.(*ast.TypeSpec)
			name := typ.Name.Name
			if _, ok := typ.Type.(*ast.InterfaceType); !ok || !typ.Name.IsExported() || name == "Lock" || name == "Lease" {
				continue
			}
			all++
			if !strings.Contains(string(page), "\n| `locks."+name+"` |") {
				t.Errorf("docs/testing-your-lock.md has no row for locks.%s in its table of interfaces", name)
			}
		}
	}
	if all < 8 {
		t.Errorf("locks/locks.go declares %d interfaces of leases, want at least 8", all)
	}
}
