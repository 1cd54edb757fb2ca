package mutate

import (
	"go/ast"
	"go/token"
)

// An outcome says how a branch ends: whether it returns, and if so, whether with an error.
type outcome int

const (
	continues outcome = iota // it does not end with a return
	succeeds                 // it returns nil as its last result, so no error
	fails                    // it returns something else, mostly an error
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

// A conditionPart is one operand of && or || in a condition, with the outcome of the branch that
// runs if the whole condition is true. A comparison that a function returns can be a conditionPart,
// too. The comments call a conditionPart a test.
type conditionPart struct {
	expr    ast.Expr
	outcome outcome
	// isWhole means that the condition has no other part.
	isWhole bool
	// function is the function declaration that contains the test.
	function *ast.FuncDecl
}

// tests returns the parts of the conditions of all if statements and cases, and the
// comparisons that functions return with an error.
func (f *file) tests() (all []conditionPart) {
	for _, d := range f.tree.Decls {
		function, is := d.(*ast.FuncDecl)
		if !is {
			continue
		}
		ast.PreorderStack(function, nil, func(n ast.Node, stack []ast.Node) bool {
			var conditions []ast.Expr
			var body []ast.Stmt
			switch n := n.(type) {
			case *ast.IfStmt:
				conditions, body = []ast.Expr{n.Cond}, n.Body.List
			case *ast.CaseClause:
				if s, is := stack[len(stack)-2].(*ast.SwitchStmt); is && s.Tag == nil {
					conditions, body = n.List, n.Body
				}
			case *ast.ReturnStmt:
				if comparison, is := returned(n); is {
					all = append(all, conditionPart{comparison, succeeds, true, function})
				}
			}
			for _, c := range conditions {
				found := parts(c)
				for _, part := range found {
					all = append(all, conditionPart{part, outcomeOf(body), len(found) == 1, function})
				}
			}
			return true
		})
	}
	return all
}

// returned returns the comparison that a return statement returns together with an error, as
// in return n > 0, err.
func returned(r *ast.ReturnStmt) (*ast.BinaryExpr, bool) {
	if len(r.Results) != 2 {
		return nil, false
	}
	comparison, is := r.Results[0].(*ast.BinaryExpr)
	return comparison, is && comparison.Op.Precedence() == token.EQL.Precedence() && !isNil(comparison.Y)
}

// makeTrue returns the change that makes a test always true, and makeFalse the change that makes it
// always false. The text of the test stays in the code, so that all its variables remain used.
func (f *file) makeTrue(t conditionPart) change {
	if t.isWhole {
		return change{f.replace(t.expr, f.source(t.expr)+" || true")}
	}
	return change{f.replace(t.expr, "("+f.source(t.expr)+" || true)")}
}

func (f *file) makeFalse(t conditionPart) change {
	return change{f.replace(t.expr, f.source(t.expr)+" && false")}
}

// parts returns the operands that && and || connect in a condition.
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
