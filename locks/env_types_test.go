package locks_test

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"path/filepath"
	"strings"
	"testing"
)

// No field of Env and no signature of its methods has a type of go-redis, not even inside another
// type. The compiler compiles the methods of such a type again in each package that knows Env:
// forty packages would take a second more each.
func TestEnvHasNoTypeOfGoRedis(t *testing.T) {
	types, methods := map[string]ast.Expr{}, map[string][]*ast.FuncDecl{}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(gotoken.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if s, ok := s.(*ast.TypeSpec); ok {
						types[s.Name.Name] = s.Type
					}
				}
			case *ast.FuncDecl:
				if d.Recv != nil {
					receiver := d.Recv.List[0].Type
					if p, ok := receiver.(*ast.StarExpr); ok {
						receiver = p.X
					}
					if r, ok := receiver.(*ast.Ident); ok {
						methods[r.Name] = append(methods[r.Name], d)
					}
				}
			}
		}
	}
	seen := map[string]bool{}
	var visit func(where string, n ast.Node)
	visitType := func(where, name string) {
		if seen[name] || types[name] == nil {
			return
		}
		seen[name] = true
		visit(where+" > "+name, types[name])
		for _, m := range methods[name] {
			visit(where+" > "+name+"."+m.Name.Name, m.Type)
		}
	}
	visit = func(where string, n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if p, ok := n.X.(*ast.Ident); ok && p.Name == "redis" {
					t.Errorf("%s has the type redis.%s", where, n.Sel.Name)
				}
				return false
			case *ast.Ident:
				visitType(where, n.Name)
			}
			return true
		})
	}
	visitType("package locks", "Env")
	visitType("package locks", "Kind")
	if !seen["processState"] || !seen["Lease"] {
		t.Errorf("the types that were visited are %v, want those of fields and of results too", seen)
	}
}
