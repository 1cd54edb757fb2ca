package mutate

import (
	"go/ast"

	"github.com/locksim/locksim/internal/lazy"
)

var (
	// acquireName matches the name of a function that acquires a lock.
	acquireName = lazy.Regexp(`(?i)^(?:try|must|do)?_?(?:acquire|obtain|lock|take|attempt|enter|try)`)
	// cleanUpName matches the name of a function that gives up a key.
	cleanUpName = lazy.Regexp(`^(?:[Cc]lean|[Rr]elease|[Rr]emove|[Uu]nlock|[Rr]evoke|[Dd]estroy|[Dd]elete|[Dd]el)(?:[A-Z]\w*|up)?$`)
	// mutexName matches the name of a lock of the process itself.
	mutexName = lazy.Regexp(`(?i)mu(tex)?$`)
)

// noCleanUp makes a function that acquires the lock leave out a clean-up: a call that gives
// up a key after a failed attempt.
func noCleanUp(f *file) (changes []change) {
	f.statements(func(list []ast.Stmt, stack []ast.Node) {
		if !acquireName().MatchString(functionName(stack)) {
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

// isCleanUp reports whether a statement calls a function that gives up a key, and ignores the
// result of the call.
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
		if c, is := n.(*ast.CallExpr); is && cleanUpName().MatchString(lastName(c.Fun)) {
			s, isMethod := c.Fun.(*ast.SelectorExpr)
			found = found || isMethod && !mutexName().MatchString(lastName(s.X)) || !isMethod && lastName(c.Fun) != "delete"
		}
		return !found
	})
	return found
}
