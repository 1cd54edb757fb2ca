package history_test

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// displayTexts lists the fields and methods that hold text for people, by package and type.
// The facts in such a text also exist as values elsewhere, so no code needs to search the
// text.
var displayTexts = map[string][]string{
	"trace.Event":          {"Text"},
	"trace.Trace":          {"Doubts", "Notes"},
	"trace.FaultInfo":      {"Text", "Timing", "IdleReason"},
	"trace.Complaint":      {"Why"},
	"trace.Point":          {"String", "Phrase"},
	"trace.StepPoint":      {"String"},
	"trace.Witness":        {"String"},
	"checks.WitnessResult": {"Text"},
	"checks.Reason":        {"String"},
	"checks.Blame":         {"String"},
	"story.Clause":         {"Subject", "Predicate", "BeginPredicate"},
	"story.Renderer":       {"Reason", "Reasons", "Measure"},
	"story.Mark":           {"Text"},
	"sim.Fault":            {"Text"},
	"runs.RunResult":       {"Doubt"},
	"runs.Break":           {"Why"},
	"explore.Harm":         {"String"},
	"explore.Way":          {"Title", "Story", "Why"},
	"explore.Cause":        {"Faults"},
	"explore.BaseRecord":   {"Broke", "Doubt"},
}

// searches are the functions of package strings that search a text, split it or replace a
// part of it.
var searches = []string{
	"Contains", "ContainsAny", "ContainsFunc", "ContainsRune", "Count", "Cut", "CutPrefix", "CutSuffix", "EqualFold",
	"Fields", "FieldsFunc", "FieldsFuncSeq", "FieldsSeq", "HasPrefix", "HasSuffix", "Index", "IndexAny", "IndexByte", "IndexFunc",
	"IndexRune", "LastIndex", "LastIndexAny", "LastIndexByte", "LastIndexFunc", "Replace", "ReplaceAll", "Split", "SplitAfter",
	"SplitAfterN", "SplitAfterSeq", "SplitN", "SplitSeq", "TrimPrefix", "TrimSuffix",
}

// Texts for people are read only by people: code must not extract facts from them. The
// exceptions are package trace, which has the grammar of points, and package history, which
// reads the errors of other programs.
func TestNoCodeSearchesDisplayTexts(t *testing.T) {
	if testing.Short() {
		t.Skip("it type-checks the whole module")
	}
	used := map[string]bool{}
	for _, p := range modulePackages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		if name == "trace" || name == "history" {
			continue
		}
		_, info, fset, files := p.types(t)
		for _, file := range files {
			r := textReader{info: info, textVars: map[types.Object]bool{}, used: used}
			for range 3 { // a text may be assigned from variable to variable
				ast.Inspect(file, r.recordTextVars)
			}
			ast.Inspect(file, r.findSearches)
			for _, pos := range r.found {
				at := fset.Position(pos)
				t.Errorf("%s/%s:%d searches a text that is written for people; use a value with the same fact, or add one", name, filepath.Base(at.Filename), at.Line)
			}
		}
	}
	for of, names := range displayTexts {
		for _, name := range names {
			if !used[of+"."+name] {
				t.Errorf("displayTexts lists %s.%s, but no code uses it: was it renamed?", of, name)
			}
		}
	}
}

// A textReader collects the places of one file at which code searches a text for people.
type textReader struct {
	info *types.Info
	// textVars are the variables that hold a text for people. used are the entries of
	// displayTexts that the code uses.
	textVars map[types.Object]bool
	used     map[string]bool
	found    []token.Pos
}

// recordTextVars records which variables are assigned a text for people.
func (r *textReader) recordTextVars(n ast.Node) bool {
	record := func(x ast.Expr) {
		if id, ok := x.(*ast.Ident); ok {
			if obj := firstObject(r.info.Defs[id], r.info.Uses[id]); obj != nil {
				r.textVars[obj] = true
			}
		}
	}
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, x := range n.Rhs {
			if len(n.Lhs) == len(n.Rhs) && r.isText(x) {
				record(n.Lhs[i])
			}
		}
	case *ast.RangeStmt:
		if n.Value != nil && r.isText(n.X) {
			record(n.Value)
		}
	}
	return true
}

// isText reports whether an expression is a text for people.
func (r *textReader) isText(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.Ident:
		return r.textVars[r.info.Uses[x]]
	case *ast.ParenExpr:
		return r.isText(x.X)
	case *ast.IndexExpr:
		return r.isText(x.X)
	case *ast.SliceExpr:
		return r.isText(x.X)
	case *ast.BinaryExpr:
		return x.Op == token.ADD && (r.isText(x.X) || r.isText(x.Y))
	case *ast.CallExpr:
		if fn, ok := r.callee(x); ok && fn.Pkg() != nil && fn.Pkg().Path() == "fmt" {
			return slices.ContainsFunc(x.Args, r.isText)
		}
		if r.info.Types[x.Fun].IsType() {
			return r.isText(x.Args[0])
		}
		return r.isText(x.Fun)
	case *ast.SelectorExpr:
		s := r.info.Selections[x]
		if s == nil {
			return false
		}
		of := typeName(s.Recv())
		if _, method := s.Obj().(*types.Func); !method { // a field may belong to an embedded type
			of = fieldOf(s)
		}
		fieldName := of + "." + x.Sel.Name
		r.used[fieldName] = true
		return slices.Contains(displayTexts[of], x.Sel.Name)
	}
	return false
}

// findSearches finds the code that searches a text for people, or compares it with a
// constant.
func (r *textReader) findSearches(n ast.Node) bool {
	literal := func(x ast.Expr) bool {
		v := r.info.Types[x].Value
		return v != nil && v.Kind() == constant.String && constant.StringVal(v) != ""
	}
	switch n := n.(type) {
	case *ast.SelectorExpr:
		r.isText(n)
	case *ast.CallExpr:
		fn, ok := r.callee(n)
		if !ok || fn.Pkg() == nil || !slices.ContainsFunc(n.Args, r.isText) {
			break
		}
		if path := fn.Pkg().Path(); path == "regexp" || path == "strings" && (fn.Signature().Recv() != nil && fn.Name() == "Replace" || slices.Contains(searches, fn.Name())) {
			r.found = append(r.found, n.Pos())
		}
	case *ast.BinaryExpr:
		if (n.Op == token.EQL || n.Op == token.NEQ) && (r.isText(n.X) && literal(n.Y) || r.isText(n.Y) && literal(n.X)) {
			r.found = append(r.found, n.Pos())
		}
	case *ast.SwitchStmt:
		if n.Tag != nil && r.isText(n.Tag) {
			r.found = append(r.found, n.Pos())
		}
	}
	return true
}

// callee returns the function or method that is called; false if that is not known.
func (r *textReader) callee(call *ast.CallExpr) (*types.Func, bool) {
	fn, ok := r.info.Uses[nameOf(call.Fun)].(*types.Func)
	return fn, ok
}

// typeName returns the name of a type of this module, such as "trace.Event". For a pointer
// it is the name of the type that it points to.
func typeName(typ types.Type) string {
	if pointer, ok := typ.Underlying().(*types.Pointer); ok {
		typ = pointer.Elem()
	}
	n, ok := types.Unalias(typ).(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return ""
	}
	path := strings.TrimPrefix(n.Obj().Pkg().Path(), module)
	return fmt.Sprintf("%s.%s", strings.TrimPrefix(path, "internal/"), n.Obj().Name())
}

// fieldOf returns the name of the type that declares a selected field.
func fieldOf(s *types.Selection) string {
	typ := s.Recv()
	for _, i := range s.Index()[:len(s.Index())-1] {
		if pointer, ok := typ.Underlying().(*types.Pointer); ok {
			typ = pointer.Elem()
		}
		typ = typ.Underlying().(*types.Struct).Field(i).Type()
	}
	return typeName(typ)
}

func firstObject(a, b types.Object) types.Object {
	if a != nil {
		return a
	}
	return b
}

// A reason must be rendered by package story. Package fmt would print its code.
func TestNoCodePrintsReasonsWithFmt(t *testing.T) {
	if testing.Short() {
		t.Skip("it type-checks the whole module")
	}
	for _, p := range modulePackages(t) {
		if p.isForTests() || p.ImportPath == module+"checks" {
			continue
		}
		_, info, fset, files := p.types(t)
		for _, file := range files {
			r := textReader{info: info}
			ast.Inspect(file, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				fn, ok := r.callee(call)
				if !ok || fn.Pkg() == nil || fn.Pkg().Path() != "fmt" {
					return true
				}
				for _, arg := range call.Args {
					if typeName(info.TypeOf(arg)) == "checks.Reason" {
						at := fset.Position(arg.Pos())
						t.Errorf("%s:%d prints the code of a reason; use a story.Renderer, which renders its sentence", filepath.Base(at.Filename), at.Line)
					}
				}
				return true
			})
		}
	}
}
