package mutate

import (
	"go/ast"
	"go/token"
)

// smallerQuorum makes half of the nodes enough: it turns n/2 + 1 into n/2, and x > n/2 into
// x >= n/2.
func smallerQuorum(f *file) (changes []change) {
	ast.Inspect(f.tree, func(n ast.Node) bool {
		e, is := n.(*ast.BinaryExpr)
		switch {
		case !is:
		case e.Op == token.ADD && isHalf(e.X) && isNumber(e.Y, "1"):
			changes = append(changes, change{f.replace(e, f.source(e.X))})
		case e.Op == token.GTR && isHalf(e.Y):
			at := f.offset(e.OpPos)
			changes = append(changes, change{{at, at + 1, ">="}})
		}
		return true
	})
	return changes
}

// isHalf reports whether an expression is something divided by 2.
func isHalf(e ast.Expr) bool {
	if p, is := e.(*ast.ParenExpr); is {
		e = p.X
	}
	b, is := e.(*ast.BinaryExpr)
	return is && b.Op == token.QUO && isNumber(b.Y, "2")
}

// isNumber reports whether an expression is a literal that is written in the source as
// number.
func isNumber(e ast.Expr, number string) bool {
	l, is := e.(*ast.BasicLit)
	return is && l.Value == number
}
