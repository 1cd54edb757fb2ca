package locktest_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mostNames is how many names the packages may export. Lower it whenever they export fewer:
// an exported name is a promise, and strangers have to read it.
const mostNames = 1171

var update = flag.Bool("update", false, "rewrite testdata/names.txt")

// testdata/names.txt has each exported name outside internal/. So the diff of a change
// shows which names it adds or removes.
func TestNames(t *testing.T) {
	const file = "testdata/names.txt"
	names := exportedNames(t)
	if *update {
		if err := os.WriteFile(file, []byte(strings.Join(names, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	listed := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	const remedy = "run go test ./locktest -run '^TestNames$' -update"
	for _, name := range names {
		if !slices.Contains(listed, name) {
			t.Errorf("%s is exported and not in %s; unexport it, or %s", name, file, remedy)
		}
	}
	for _, name := range listed {
		if !slices.Contains(names, name) {
			t.Errorf("%s has %s, which is not exported any more; %s", file, name, remedy)
		}
	}
	if len(names) > mostNames {
		t.Errorf("%d names are exported, and there may be %d: unexport some, or move them into an internal folder", len(names), mostNames)
	} else if len(names) < mostNames {
		t.Errorf("%d names are exported: lower mostNames, which is %d", len(names), mostNames)
	}
}

// exportedNames lists the functions, types, methods, constants and variables that the
// packages of the workspace export, in alphabetical order. Each is written as the folder of
// its package and its name.
func exportedNames(t *testing.T) []string {
	t.Helper()
	names := map[string]bool{}
	for _, module := range workspace(t) {
		err := filepath.WalkDir(module, func(file string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir():
				return skipFolder(module, file)
			case !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
				return nil
			}
			folder, err := filepath.Rel("..", filepath.Dir(file))
			if err != nil {
				return err
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil || parsed.Name.Name == "main" {
				return err
			}
			for _, d := range parsed.Decls {
				for _, name := range declaredNames(d) {
					if !slices.ContainsFunc(strings.Split(name, "."), func(part string) bool { return !ast.IsExported(part) }) {
						names[path.Join(filepath.ToSlash(folder), name)] = true
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// workspace lists the folders of the modules that go.work names.
func workspace(t *testing.T) []string {
	t.Helper()
	cmd := exec.Command("go", "list", "-m", "-f", "{{.Dir}}")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	folders := strings.Fields(string(out))
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	for i, folder := range folders {
		relative, err := filepath.Rel(root, folder)
		if err != nil {
			t.Fatal(err)
		}
		folders[i] = filepath.Join("..", relative)
	}
	return folders
}

// skipFolder returns [fs.SkipDir] for a folder of another module, and for a folder that
// cannot be imported from outside.
func skipFolder(module, folder string) error {
	if folder == module {
		return nil
	}
	name := filepath.Base(folder)
	if name == "internal" || name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
		return fs.SkipDir
	}
	if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
		return fs.SkipDir
	}
	return nil
}

// declaredNames lists the names that a declaration declares. The name of a method has the
// name of its type in front.
func declaredNames(d ast.Decl) []string {
	var names []string
	switch d := d.(type) {
	case *ast.FuncDecl:
		name := d.Name.Name
		if d.Recv != nil {
			name = receiverType(d.Recv.List[0].Type) + "." + name
		}
		names = append(names, name)
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				names = append(names, spec.Name.Name)
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					names = append(names, name.Name)
				}
			}
		}
	}
	return names
}

// receiverType returns the name of a method's receiver type. x is that type's expression,
// which may be a pointer and have type parameters.
func receiverType(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.StarExpr:
		return receiverType(x.X)
	case *ast.IndexExpr:
		return receiverType(x.X)
	case *ast.IndexListExpr:
		return receiverType(x.X)
	case *ast.Ident:
		return x.Name
	}
	panic(fmt.Sprintf("a receiver is a %T", x))
}
