package mutate

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/locksim/locksim/internal/lazy"
)

// A sourcePackage is the files of a package.
type sourcePackage struct {
	files []*file
	// fields maps the name of each struct type to the names of its fields.
	fields map[string][]string
}

// A file is a file of the lock, with the facts about it that the operators need. An operator
// makes one kind of mistake in a lock.
type file struct {
	*sourcePackage
	name   string
	text   []byte
	tree   *ast.File // nil for a script
	offset func(token.Pos) int
	// imports maps the name of each import to its path. If the file does not name an import,
	// the name is a guess: the last element of the path that is not a version.
	imports map[string]string
	// contexts are the names of variables, parameters and fields that are contexts, or that
	// are options which contain a context.
	contexts map[string]bool
}

// parse parses all files of a package.
func parse(sources []Source) (*sourcePackage, error) {
	p := &sourcePackage{fields: map[string][]string{}}
	for _, s := range sources {
		f := &file{sourcePackage: p, name: s.Name, text: s.Text}
		p.files = append(p.files, f)
		if strings.HasSuffix(s.Name, ".lua") {
			continue
		}
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, s.Name, s.Text, parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("it is not valid Go: %w", err)
		}
		f.tree, f.imports = tree, importsOf(tree)
		f.offset = func(pos token.Pos) int { return set.PositionFor(pos, false).Offset }
		f.findContexts()
		f.findFields()
	}
	return p, nil
}

// version matches the element of an import path that is only a version, such as v2.
var version = lazy.Regexp(`^v[0-9]+$`)

// importsOf returns the paths of a file's imports by their names; see [file].imports.
func importsOf(tree *ast.File) map[string]string {
	names := map[string]string{}
	for _, i := range tree.Imports {
		where, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			continue // impossible: the file was parsed
		}
		names[importName(i, where)] = where
	}
	return names
}

func importName(i *ast.ImportSpec, where string) string {
	if i.Name != nil {
		return i.Name.Name
	}
	name := path.Base(where)
	if version().MatchString(name) {
		name = path.Base(path.Dir(where))
	}
	return name
}

// source returns the text of a node.
func (f *file) source(n ast.Node) string {
	return string(f.text[f.offset(n.Pos()):f.offset(n.End())])
}

// replace returns the edit that replaces a node.
func (f *file) replace(n ast.Node, text string) edit {
	return edit{f.offset(n.Pos()), f.offset(n.End()), text}
}

// withoutArguments returns the change that removes n arguments of a call, beginning with the
// argument at index i.
func (f *file) withoutArguments(call *ast.CallExpr, i, n int) change {
	from, to := f.offset(call.Args[i].Pos()), f.offset(call.Args[i+n-1].End())
	switch {
	case i > 0:
		from = f.offset(call.Args[i-1].End())
	case len(call.Args) > n:
		to = f.offset(call.Args[n].Pos())
	}
	return change{{from, to, ""}}
}

// findContexts finds the names of contexts.
func (f *file) findContexts() {
	f.contexts = map[string]bool{"ctx": true}
	ast.Inspect(f.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			if f.isContextType(n.Type) {
				for _, name := range n.Names {
					f.contexts[name.Name] = true
				}
			}
		case *ast.AssignStmt:
			call, isCall := n.Rhs[0].(*ast.CallExpr)
			name, isName := n.Lhs[0].(*ast.Ident)
			if isCall && isName && name.Name != "_" && isWith(call) {
				f.contexts[name.Name] = true
			}
		}
		return true
	})
}

func (f *file) isContextType(t ast.Expr) bool {
	s, is := t.(*ast.SelectorExpr)
	return is && s.Sel.Name == "Context" && f.source(s.X) == "context"
}

// isWith reports whether a call derives a context or options from another, as
// context.WithTimeout and WithContext do.
func isWith(call *ast.CallExpr) bool {
	return strings.HasPrefix(strings.ToLower(lastName(call.Fun)), "with")
}

// findFields finds the fields of struct types.
func (f *file) findFields() {
	ast.Inspect(f.tree, func(n ast.Node) bool {
		spec, isType := n.(*ast.TypeSpec)
		if !isType {
			return true
		}
		structure, is := spec.Type.(*ast.StructType)
		if !is {
			return true
		}
		var names []string
		for _, field := range structure.Fields.List {
			for _, name := range field.Names {
				names = append(names, name.Name)
			}
			if len(field.Names) == 0 {
				names = append(names, lastName(field.Type))
			}
		}
		f.fields[spec.Name.Name] = names
		return true
	})
}

// lastName returns the last identifier of an expression such as l.redis.SetNX, or "".
func lastName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.CallExpr:
		return lastName(e.Fun)
	case *ast.StarExpr:
		return lastName(e.X)
	case *ast.ParenExpr:
		return lastName(e.X)
	case *ast.UnaryExpr:
		return lastName(e.X)
	case *ast.IndexExpr:
		return lastName(e.X)
	}
	return ""
}

// hasRequest reports whether a node contains a request: a call that has a context among its
// arguments, and that does not only derive another context. The body of a function literal counts
// only if the function is called, or passed to another function, which will call it.
func (f *file) hasRequest(n ast.Node) bool {
	found := false
	ast.PreorderStack(n, nil, func(n ast.Node, stack []ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			if len(stack) == 0 {
				return false
			}
			_, isCalled := stack[len(stack)-1].(*ast.CallExpr)
			return isCalled
		case *ast.CallExpr:
			found = found || !isWith(n) && slices.ContainsFunc(n.Args, f.isContext)
		}
		return !found
	})
	return found
}

func (f *file) isContext(e ast.Expr) bool {
	if call, is := e.(*ast.CallExpr); is {
		return strings.HasPrefix(f.source(call.Fun), "context.")
	}
	return f.contexts[lastName(e)]
}

// statements calls visit with each list of statements of the file: of a block, or of a case.
// stack has the nodes around the list, the outermost first.
func (f *file) statements(visit func(list []ast.Stmt, stack []ast.Node)) {
	ast.PreorderStack(f.tree, nil, func(n ast.Node, stack []ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			visit(n.List, stack)
		case *ast.CaseClause:
			visit(n.Body, stack)
		case *ast.CommClause:
			visit(n.Body, stack)
		}
		return true
	})
}

// functionName returns the name of the function declaration among some nodes, or "".
func functionName(stack []ast.Node) string {
	for _, n := range stack {
		if d, is := n.(*ast.FuncDecl); is {
			return d.Name.Name
		}
	}
	return ""
}

// dropUnusedImports returns the text of a mutant of the file, in which each import that only the
// unmutated file uses has the name _. Otherwise the mutant would not compile.
func (f *file) dropUnusedImports(text []byte) []byte {
	if f.tree == nil {
		return text
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, f.name, text, parser.SkipObjectResolution)
	if err != nil {
		return text // the compiler says what is wrong
	}
	before, after := usedNames(f.tree), usedNames(tree)
	var c change
	for _, i := range tree.Imports {
		where, err := strconv.Unquote(i.Path.Value)
		if name := importName(i, where); err != nil || !before[name] || after[name] {
			continue
		}
		from, to := set.PositionFor(i.Pos(), false).Offset, set.PositionFor(i.Path.Pos(), false).Offset
		c = append(c, edit{from, to, "_ "})
	}
	return c.apply(text)
}

// usedNames returns the names before a dot in a file, as in context.Background.
func usedNames(tree *ast.File) map[string]bool {
	names := map[string]bool{}
	ast.Inspect(tree, func(n ast.Node) bool {
		if s, is := n.(*ast.SelectorExpr); is {
			if x, is := s.X.(*ast.Ident); is {
				names[x.Name] = true
			}
		}
		return true
	})
	return names
}
