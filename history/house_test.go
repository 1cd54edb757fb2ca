package history_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/trace"
)

const (
	module      = "github.com/locksim/locksim/"
	traceFolder = module + "trace"
)

// changesState reports whether a constant is a kind of event that changes a state which
// readers of package history follow.
func changesState(c *types.Const) bool {
	return slices.ContainsFunc(trace.Kinds(), func(f trace.Form) bool {
		return f.ChangesState && c.Val().Kind() == constant.String && constant.StringVal(c.Val()) == string(f.Kind)
	})
}

// Only packages trace and history iterate over the events of a trace and follow what they
// change. All other packages ask a history, and the world only writes events.
func TestOnlyTraceAndHistoryFollowEvents(t *testing.T) {
	if testing.Short() {
		t.Skip("it type-checks the whole module")
	}
	for _, p := range modulePackages(t) {
		if p.ImportPath == traceFolder || p.ImportPath == module+"history" || p.isForTests() {
			continue
		}
		for _, at := range p.findMisuses(t) {
			t.Errorf("%s; ask package history, and add a method to it if it has no answer", at)
		}
	}
}

// Package history returns typed lists, and exports no way to iterate over events one by
// one.
func TestHistoryExportsNoCallbackOverEvents(t *testing.T) {
	if testing.Short() {
		t.Skip("it type-checks the whole module")
	}
	for _, p := range modulePackages(t) {
		if p.ImportPath != module+"history" {
			continue
		}
		pkg, _, _, _ := p.types(t)
		for _, name := range pkg.Scope().Names() {
			obj := pkg.Scope().Lookup(name)
			if fn, ok := obj.(*types.Func); ok && obj.Exported() && takesCallback(fn) {
				t.Errorf("%s takes or returns a callback with events, want typed lists only", obj)
			}
			named, ok := obj.Type().(*types.Named)
			if !ok || !obj.Exported() {
				continue
			}
			for m := range named.Methods() {
				if m.Exported() && takesCallback(m) {
					t.Errorf("%s takes or returns a callback with events, want typed lists only", m)
				}
			}
		}
	}
}

// takesCallback reports whether a function takes, or returns, a function that is called
// with events.
func takesCallback(fn *types.Func) bool {
	hasEventCallback := func(tuple *types.Tuple) bool {
		for v := range tuple.Variables() {
			if sig, ok := v.Type().Underlying().(*types.Signature); ok && strings.Contains(sig.String(), traceFolder+".Event") {
				return true
			}
		}
		return false
	}
	sig := fn.Signature()
	return hasEventCallback(sig.Params()) || hasEventCallback(sig.Results())
}

// A listedPackage is a package as go list reports it.
type listedPackage struct {
	ImportPath, Dir, Export string
	GoFiles, Imports        []string
	imports                 types.ImporterFrom
}

// modulePackages returns the packages of this module, without their tests.
func modulePackages(t *testing.T) []listedPackage {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,Imports", "./...")
	cmd.Dir = root
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, problem.String())
	}
	var all []listedPackage
	exports := map[string]string{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listedPackage
		if err := decoder.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if strings.HasPrefix(p.ImportPath, module) {
			all = append(all, p)
		}
	}
	if len(all) < 10 {
		t.Fatalf("go list lists %d packages of this module, want at least 10", len(all))
	}
	read := func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("go list has no export data of %s", path)
		}
		return os.Open(exports[path])
	}
	imports := importer.ForCompiler(token.NewFileSet(), "gc", read).(types.ImporterFrom)
	for i := range all {
		all[i].imports = imports
	}
	return all
}

// isForTests reports whether the package is for tests. Such a package may look at all
// events.
func (p listedPackage) isForTests() bool {
	return slices.Contains(p.Imports, "testing") && p.ImportPath != module+"locktest" && p.ImportPath != module+"sim"
}

// types type-checks the package, and returns what the type checker found out about it.
func (p listedPackage) types(t *testing.T) (*types.Package, *types.Info, *token.FileSet, []*ast.File) {
	t.Helper()
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	info := &types.Info{
		Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, Types: map[ast.Expr]types.TypeAndValue{},
	}
	pkg, err := (&types.Config{Importer: p.imports}).Check(p.ImportPath, fset, files, info)
	if err != nil {
		t.Fatalf("%s: %v", p.ImportPath, err)
	}
	return pkg, info, fset, files
}

// findMisuses lists the places at which the package iterates over events or looks for
// events that change a state.
func (p listedPackage) findMisuses(t *testing.T) []string {
	_, info, fset, files := p.types(t)
	var found []string
	place := func(pos token.Pos) string {
		at := fset.Position(pos)
		return fmt.Sprintf("%s/%s:%d", strings.TrimPrefix(p.ImportPath, module), filepath.Base(at.Filename), at.Line)
	}
	// These packages write events, and must not look at the events that they have written.
	writesEvents := slices.Contains([]string{module + "sim", module + "internal/reality", module + "internal/rowregister", module + "servers/redis", module + "servers/zookeeper", module + "servers/consul", module + "servers/kubernetes"}, p.ImportPath)
	compared := map[*ast.Ident]bool{}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CaseClause:
				for _, x := range n.List {
					compared[nameOf(x)] = true
				}
			case *ast.BinaryExpr:
				compared[nameOf(n.X)], compared[nameOf(n.Y)] = true, true
			}
			return true
		})
	}
	for sel, s := range info.Selections {
		if v, ok := s.Obj().(*types.Var); ok && v.IsField() && v.Name() == "Events" && inTrace(v) && !writesEvents {
			found = append(found, place(sel.Pos())+" iterates over the events of a trace")
		}
	}
	for id, obj := range info.Uses {
		if c, ok := obj.(*types.Const); ok && inTrace(c) && strings.HasPrefix(c.Name(), "Kind") && changesState(c) && (!writesEvents || compared[id]) {
			found = append(found, place(id.Pos())+" looks for events of "+c.Name())
		}
	}
	slices.Sort(found)
	return found
}

// nameOf returns the last identifier of an expression such as trace.KindSet.
func nameOf(x ast.Expr) *ast.Ident {
	switch x := x.(type) {
	case *ast.SelectorExpr:
		return x.Sel
	case *ast.Ident:
		return x
	}
	return nil
}

func inTrace(obj types.Object) bool { return obj.Pkg() != nil && obj.Pkg().Path() == traceFolder }
