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

// sayings are what texts for people are kept in: by package and type, fields and methods.
// What they tell is somewhere as a value too.
var sayings = map[string][]string{
	"trace.Event":          {"Text"},
	"trace.Trace":          {"Doubts", "Notes"},
	"trace.FaultInfo":      {"Text", "Course", "Idle"},
	"trace.Complaint":      {"Why"},
	"trace.Point":          {"String", "Told"},
	"trace.StepPoint":      {"String"},
	"trace.Witness":        {"String"},
	"checks.WitnessResult": {"Text"},
	"checks.Reason":        {"String"},
	"checks.Blame":         {"String"},
	"story.Clause":         {"Subject", "Predicate", "Asked"},
	"story.Voice":          {"Reason", "Reasons", "Measure"},
	"story.Mark":           {"Text"},
	"sim.Fault":            {"Text"},
	"runs.Run":             {"Doubt"},
	"runs.Break":           {"Why"},
	"explore.Harm":         {"String"},
	"explore.Way":          {"Title", "Story", "Why"},
	"explore.Cause":        {"Faults"},
	"explore.BaseRecord":   {"Broke", "Doubt"},
}

// searches are the functions of package strings that look for something in a text, take it
// apart or put something else in its place.
var searches = []string{
	"Contains", "ContainsAny", "ContainsFunc", "ContainsRune", "Count", "Cut", "CutPrefix", "CutSuffix", "EqualFold",
	"Fields", "FieldsFunc", "FieldsFuncSeq", "FieldsSeq", "HasPrefix", "HasSuffix", "Index", "IndexAny", "IndexByte", "IndexFunc",
	"IndexRune", "LastIndex", "LastIndexAny", "LastIndexByte", "LastIndexFunc", "Replace", "ReplaceAll", "Split", "SplitAfter",
	"SplitAfterN", "SplitAfterSeq", "SplitN", "SplitSeq", "TrimPrefix", "TrimSuffix",
}

// What this project says is said, and read by people only: nobody but trace, which has the
// grammar, and history, which reads the errors of others, looks into a text for a fact.
func TestNobodyReadsWhatIsSaid(t *testing.T) {
	if testing.Short() {
		t.Skip("it type-checks the whole module")
	}
	met := map[string]bool{}
	for _, p := range modulePackages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		if name == "trace" || name == "history" {
			continue
		}
		_, info, fset, files := p.types(t)
		for _, file := range files {
			r := readings{info: info, said: map[types.Object]bool{}, met: met}
			for range 3 { // a text may be handed on from name to name
				ast.Inspect(file, r.follow)
			}
			ast.Inspect(file, r.look)
			for _, pos := range r.found {
				at := fset.Position(pos)
				t.Errorf("%s/%s:%d looks into a text that tells people something; have what it says as a value", name, filepath.Base(at.Filename), at.Line)
			}
		}
	}
	for of, names := range sayings {
		for _, name := range names {
			if !met[of+"."+name] {
				t.Errorf("nobody uses %s.%s: is it still called that?", of, name)
			}
		}
	}
}

// readings are the places of one file at which somebody looks into what is said.
type readings struct {
	info *types.Info
	// said are the variables that have such a text, and met are the sayings met with.
	said  map[types.Object]bool
	met   map[string]bool
	found []token.Pos
}

// follow notes which variables get such a text.
func (r *readings) follow(n ast.Node) bool {
	note := func(x ast.Expr) {
		if id, ok := x.(*ast.Ident); ok {
			if obj := cmpOr(r.info.Defs[id], r.info.Uses[id]); obj != nil {
				r.said[obj] = true
			}
		}
	}
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, x := range n.Rhs {
			if len(n.Lhs) == len(n.Rhs) && r.is(x) {
				note(n.Lhs[i])
			}
		}
	case *ast.RangeStmt:
		if n.Value != nil && r.is(n.X) {
			note(n.Value)
		}
	}
	return true
}

// is says whether an expression is such a text.
func (r *readings) is(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.Ident:
		return r.said[r.info.Uses[x]]
	case *ast.ParenExpr:
		return r.is(x.X)
	case *ast.IndexExpr:
		return r.is(x.X)
	case *ast.SliceExpr:
		return r.is(x.X)
	case *ast.BinaryExpr:
		return x.Op == token.ADD && (r.is(x.X) || r.is(x.Y))
	case *ast.CallExpr:
		if fn, ok := r.callee(x); ok && fn.Pkg() != nil && fn.Pkg().Path() == "fmt" {
			return slices.ContainsFunc(x.Args, r.is)
		}
		if r.info.Types[x.Fun].IsType() {
			return r.is(x.Args[0])
		}
		return r.is(x.Fun)
	case *ast.SelectorExpr:
		s := r.info.Selections[x]
		if s == nil {
			return false
		}
		of := named(s.Recv())
		if _, method := s.Obj().(*types.Func); !method { // a field may come from what is embedded
			of = fieldOf(s)
		}
		saying := of + "." + x.Sel.Name
		r.met[saying] = true
		return slices.Contains(sayings[of], x.Sel.Name)
	}
	return false
}

// look finds those who search such a text, or ask whether it is a certain one.
func (r *readings) look(n ast.Node) bool {
	literal := func(x ast.Expr) bool {
		v := r.info.Types[x].Value
		return v != nil && v.Kind() == constant.String && constant.StringVal(v) != ""
	}
	switch n := n.(type) {
	case *ast.SelectorExpr:
		r.is(n)
	case *ast.CallExpr:
		fn, ok := r.callee(n)
		if !ok || fn.Pkg() == nil || !slices.ContainsFunc(n.Args, r.is) {
			break
		}
		if path := fn.Pkg().Path(); path == "regexp" || path == "strings" && (fn.Signature().Recv() != nil && fn.Name() == "Replace" || slices.Contains(searches, fn.Name())) {
			r.found = append(r.found, n.Pos())
		}
	case *ast.BinaryExpr:
		if (n.Op == token.EQL || n.Op == token.NEQ) && (r.is(n.X) && literal(n.Y) || r.is(n.Y) && literal(n.X)) {
			r.found = append(r.found, n.Pos())
		}
	case *ast.SwitchStmt:
		if n.Tag != nil && r.is(n.Tag) {
			r.found = append(r.found, n.Pos())
		}
	}
	return true
}

func (r *readings) callee(call *ast.CallExpr) (*types.Func, bool) {
	fn, ok := r.info.Uses[nameOf(call.Fun)].(*types.Func)
	return fn, ok
}

// named is the name of a type of this module, or of what it points to: "trace.Event".
func named(typ types.Type) string {
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

// fieldOf is the type that has a selected field itself.
func fieldOf(s *types.Selection) string {
	typ := s.Recv()
	for _, i := range s.Index()[:len(s.Index())-1] {
		if pointer, ok := typ.Underlying().(*types.Pointer); ok {
			typ = pointer.Elem()
		}
		typ = typ.Underlying().(*types.Struct).Field(i).Type()
	}
	return named(typ)
}

func cmpOr(a, b types.Object) types.Object {
	if a != nil {
		return a
	}
	return b
}

// A reason is written by a voice of package story. What package fmt would print of it is its
// code.
func TestReasonsAreWrittenAsSentences(t *testing.T) {
	if testing.Short() {
		t.Skip("it type-checks the whole module")
	}
	for _, p := range modulePackages(t) {
		if p.ofTests() || p.ImportPath == module+"checks" {
			continue
		}
		_, info, fset, files := p.types(t)
		for _, file := range files {
			r := readings{info: info}
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
					if named(info.TypeOf(arg)) == "checks.Reason" {
						at := fset.Position(arg.Pos())
						t.Errorf("%s:%d prints the code of a reason; a story.Voice has its sentence", filepath.Base(at.Filename), at.Line)
					}
				}
				return true
			})
		}
	}
}
