package mutate

import (
	"go/ast"
	"go/token"
	"regexp"
)

// callersContext uses the caller's context where the lock makes one that the caller cannot
// end.
func callersContext(f *file) (changes []change) {
	if f.tree == nil {
		return nil
	}
	ast.PreorderStack(f.tree, nil, func(n ast.Node, stack []ast.Node) bool {
		call, is := n.(*ast.CallExpr)
		if !is {
			return true
		}
		switch f.source(call.Fun) {
		case "context.WithoutCancel":
			if len(call.Args) == 1 {
				changes = append(changes, change{f.replace(call, f.source(call.Args[0]))})
			}
		case "context.Background", "context.TODO":
			if name := f.contextIn(stack); name != "" && !isDefault(stack) {
				changes = append(changes, change{f.replace(call, name)})
			}
		}
		return true
	})
	return changes
}

// isDefault reports whether the innermost of some nodes assigns a value, as the default for a
// context that is nil.
func isDefault(stack []ast.Node) bool {
	a, is := stack[len(stack)-1].(*ast.AssignStmt)
	return is && a.Tok == token.ASSIGN
}

// contextIn returns the name of the innermost parameter that is a context, of the functions
// among some nodes; "" if there is none.
func (f *file) contextIn(stack []ast.Node) (name string) {
	for _, n := range stack {
		var parameters *ast.FieldList
		switch n := n.(type) {
		case *ast.FuncDecl:
			parameters = n.Type.Params
		case *ast.FuncLit:
			parameters = n.Type.Params
		default:
			continue
		}
		for _, p := range parameters.List {
			if f.isContextType(p.Type) && len(p.Names) > 0 && p.Names[0].Name != "_" {
				name = p.Names[0].Name
			}
		}
	}
	return name
}

var (
	// acquiring matches the name of a function that acquires a lock.
	acquiring = regexp.MustCompile(`(?i)^(?:try|must|do)?_?(?:acquire|obtain|lock|take|attempt|enter|try)`)
	// cleaning matches the name of a function that gives up a key.
	cleaning = regexp.MustCompile(`^(?:[Cc]lean|[Rr]elease|[Rr]emove|[Uu]nlock|[Rr]evoke|[Dd]estroy|[Dd]elete|[Dd]el)(?:[A-Z]\w*|up)?$`)
	// mutex matches the name of a lock of the process itself.
	mutex = regexp.MustCompile(`(?i)mu(tex)?$`)
)

// noCleanUp leaves out a clean-up of a function that acquires the lock.
func noCleanUp(f *file) (changes []change) {
	if f.tree == nil {
		return nil
	}
	f.statements(func(list []ast.Stmt, stack []ast.Node) {
		if !acquiring.MatchString(functionName(stack)) {
			return
		}
		for _, s := range list {
			if isCleanUp(s) {
				from, to := f.offset(s.Pos()), f.offset(s.End())
				changes = append(changes, change{{from, from, "if false { "}, {to, to, " }"}})
			}
		}
	})
	return changes
}

// isCleanUp reports whether a statement calls a function that gives up a key, and does not
// use its answer.
func isCleanUp(s ast.Stmt) bool {
	var call ast.Expr
	switch s := s.(type) {
	case *ast.ExprStmt:
		call = s.X
	case *ast.GoStmt:
		call = s.Call
	case *ast.AssignStmt:
		for _, e := range s.Lhs {
			if lastName(e) != "_" {
				return false
			}
		}
		call = s.Rhs[0]
	default:
		return false
	}
	found := false
	ast.Inspect(call, func(n ast.Node) bool {
		if c, is := n.(*ast.CallExpr); is && cleaning.MatchString(lastName(c.Fun)) {
			s, isMethod := c.Fun.(*ast.SelectorExpr)
			found = found || isMethod && !mutex.MatchString(lastName(s.X)) || !isMethod && lastName(c.Fun) != "delete"
		}
		return !found
	})
	return found
}
