package mutate

import (
	"go/ast"
	"go/token"
)

// An outcome is what a branch does if its condition is true.
type outcome int

const (
	continues outcome = iota // it does not end with a return
	succeeds                 // it returns nil as its last result, so no error
	fails                    // it returns something else
)

// outcomeOf returns the outcome of the statements of a branch.
func outcomeOf(body []ast.Stmt) outcome {
	if len(body) == 0 {
		return continues
	}
	end, is := body[len(body)-1].(*ast.ReturnStmt)
	switch {
	case !is:
		return continues
	case len(end.Results) > 0 && isNil(end.Results[len(end.Results)-1]):
		return succeeds
	}
	return fails
}

// A test is a part of a condition, with what follows if the whole condition is true. The
// parts are what && and || connect.
type test struct {
	expr    ast.Expr
	outcome outcome
	// stack has the nodes around the statement with the condition, the outermost first.
	stack []ast.Node
}

// tests returns the parts of the conditions of all if statements and cases.
func (f *file) tests() (all []test) {
	ast.PreorderStack(f.tree, nil, func(n ast.Node, stack []ast.Node) bool {
		var conditions []ast.Expr
		var body []ast.Stmt
		switch n := n.(type) {
		case *ast.IfStmt:
			conditions, body = []ast.Expr{n.Cond}, n.Body.List
		case *ast.CaseClause:
			if s, is := stack[len(stack)-2].(*ast.SwitchStmt); is && s.Tag == nil {
				conditions, body = n.List, n.Body
			}
		}
		for _, c := range conditions {
			for _, part := range parts(c) {
				all = append(all, test{part, outcomeOf(body), append([]ast.Node{}, stack...)})
			}
		}
		return true
	})
	return all
}

// parts returns what && and || connect in a condition.
func parts(condition ast.Expr) []ast.Expr {
	switch c := condition.(type) {
	case *ast.ParenExpr:
		return parts(c.X)
	case *ast.BinaryExpr:
		if c.Op == token.LAND || c.Op == token.LOR {
			return append(parts(c.X), parts(c.Y)...)
		}
	}
	return []ast.Expr{condition}
}

func isNil(e ast.Expr) bool {
	name, is := e.(*ast.Ident)
	return is && name.Name == "nil"
}
