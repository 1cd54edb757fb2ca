package mutate

import (
	"go/ast"
	"go/token"
	"regexp"
)

// ignoreAnswer makes a test of an answer always true if the lock succeeds then, and
// otherwise never.
func ignoreAnswer(f *file) []change {
	if f.tree == nil {
		return nil
	}
	var changes []change
	answered := map[*ast.FuncDecl]map[string]bool{}
	for _, t := range f.tests() {
		function := declaration(t.stack)
		if function == nil {
			continue
		}
		if answered[function] == nil {
			answered[function] = f.answers(function)
		}
		if !usesName(t.expr, answered[function]) || readsClock(t.expr) {
			continue
		}
		switch form := formOf(t.expr); {
		case t.outcome == succeeds && form != refusal:
			changes = append(changes, f.always(t.expr))
		case t.outcome != succeeds && form == refusal, t.outcome == fails && form == unclear:
			changes = append(changes, f.never(t.expr))
		}
	}
	return changes
}

// declaration returns the function declaration among some nodes, or nil.
func declaration(stack []ast.Node) *ast.FuncDecl {
	for _, n := range stack {
		if d, is := n.(*ast.FuncDecl); is {
			return d
		}
	}
	return nil
}

// local matches the name of a function that asks no server.
var local = regexp.MustCompile(`(?i)rand|value|uuid|parse|atoi|marshal|deadline`)

// answers returns the names of the variables of a function that have the answer to a
// request: of a call with a context, or of one that also returns an error.
func (f *file) answers(function *ast.FuncDecl) map[string]bool {
	names := map[string]bool{}
	ast.Inspect(function, func(n ast.Node) bool {
		a, is := n.(*ast.AssignStmt)
		if !is || len(a.Rhs) != 1 {
			return true
		}
		call, is := a.Rhs[0].(*ast.CallExpr)
		returnsError := lastName(a.Lhs[len(a.Lhs)-1]) == "err"
		if !is || local.MatchString(lastName(call.Fun)) || isWith(call) || !returnsError && !f.hasRequest(call) {
			return true
		}
		for _, e := range a.Lhs {
			if name, is := e.(*ast.Ident); is && name.Name != "_" {
				names[name.Name] = true
			}
		}
		return true
	})
	return names
}

// usesName reports whether an expression contains one of some variables.
func usesName(e ast.Expr, names map[string]bool) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if s, is := n.(*ast.SelectorExpr); is {
			found = found || usesName(s.X, names)
			return false // Sel is no variable
		}
		name, is := n.(*ast.Ident)
		found = found || is && names[name.Name]
		return !found
	})
	return found
}

// A form is what a test of an answer looks for.
type form int

const (
	unclear  form = iota
	refusal       // an error, no, or too little
	approval      // no error, yes, or enough
)

// formOf returns the form of a test.
func formOf(e ast.Expr) form {
	switch e := e.(type) {
	case *ast.UnaryExpr:
		if e.Op == token.NOT {
			return refusal
		}
	case *ast.BinaryExpr:
		isError := lastName(e.X) == "err" || lastName(e.X) == "Err"
		switch {
		case isNil(e.Y) && isError == (e.Op == token.NEQ):
			return refusal
		case isNil(e.Y):
			return approval
		case e.Op == token.LSS, e.Op == token.LEQ, e.Op == token.EQL && isNumber(e.Y, "0"):
			return refusal
		case e.Op == token.GTR, e.Op == token.GEQ, e.Op == token.NEQ && isNumber(e.Y, "0"):
			return approval
		}
	case *ast.Ident, *ast.SelectorExpr:
		return approval
	}
	return unclear
}
