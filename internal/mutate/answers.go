package mutate

import (
	"go/ast"
	"go/token"

	"github.com/locksim/locksim/internal/lazy"
)

// ignoreAnswer makes the code ignore an answer of a server. A test is a part of a condition. A test
// after which the lock succeeds becomes always true; a test by which the lock notices a refusal
// becomes always false.
func ignoreAnswer(f *file) (changes []change) {
	answers := map[*ast.FuncDecl][]assignment{}
	for _, t := range f.tests() {
		if _, done := answers[t.function]; !done {
			answers[t.function] = f.assignments(t.function)
		}
		if c, is := t.expr.(*ast.BinaryExpr); is && comparesHolders(c) {
			continue // dropComparison does the same
		}
		if readsClock(t.expr) || !isAnswer(t.expr, answers[t.function]) {
			continue
		}
		switch form := formOf(t.expr); {
		case t.outcome == succeeds && form != refusal:
			changes = append(changes, f.makeTrue(t))
		case t.outcome != succeeds && form == refusal, t.outcome == fails && form == unclear:
			changes = append(changes, f.makeFalse(t))
		}
	}
	return changes
}

// An assignment gives a variable a value.
type assignment struct {
	name string
	// at is the end of the assignment.
	at token.Pos
	// isAnswer means that the value is the answer to a request, or computed from one.
	isAnswer bool
}

var (
	// local matches the name of a function that asks no server.
	local = lazy.Regexp(`(?i)rand|value|uuid|parse|atoi|marshal|^new|^open|build`)
	// random matches a source of random numbers, as in io.ReadFull(rand.Reader, b).
	random = lazy.Regexp(`(?i)\brand\b`)
)

// asksServer reports whether a call seems to ask a server. It does if a context is among its
// arguments, or if it returns an error and its name does not say that it does something else.
func (f *file) asksServer(call *ast.CallExpr, returnsError bool) bool {
	if isWith(call) {
		return false
	}
	return f.hasRequest(call) || returnsError && !local().MatchString(lastName(call.Fun)) && !random().MatchString(f.source(call))
}

// assignments returns the assignments of a function, in the order of the source.
func (f *file) assignments(function *ast.FuncDecl) (all []assignment) {
	ast.Inspect(function, func(n ast.Node) bool {
		a, is := n.(*ast.AssignStmt)
		if !is || len(a.Rhs) != 1 {
			return true
		}
		call, isCall := a.Rhs[0].(*ast.CallExpr)
		asks := isCall && f.asksServer(call, lastName(a.Lhs[len(a.Lhs)-1]) == "err")
		for _, e := range a.Lhs {
			if name, is := e.(*ast.Ident); is && name.Name != "_" {
				all = append(all, assignment{name.Name, a.End(), asks || isAnswer(a.Rhs[0], all)})
			}
		}
		return true
	})
	return all
}

// isAnswer reports whether an expression contains a variable whose last assignment gives it
// an answer.
func isAnswer(e ast.Expr, all []assignment) bool {
	last := map[string]bool{}
	for _, a := range all {
		if a.at <= e.Pos() {
			last[a.name] = a.isAnswer
		}
	}
	return usesName(e, last)
}

// usesName reports whether an expression contains a variable whose name is set in names.
func usesName(e ast.Expr, names map[string]bool) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			found = found || usesName(n.X, names)
			return false // Sel is no variable
		case *ast.Ident:
			found = found || names[n.Name]
		}
		return !found
	})
	return found
}

// A form says whether a test of an answer is true for a refusal or for an approval.
type form int

const (
	unclear  form = iota
	refusal       // the test is true if the answer is an error, no, or too little
	approval      // the test is true if the answer is no error, yes, or enough
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
