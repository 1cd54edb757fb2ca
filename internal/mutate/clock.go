package mutate

import (
	"go/ast"
	"go/token"
	"strings"

	"github.com/locksim/locksim/internal/lazy"
)

// readsClock reports whether an expression contains a call that reads a clock.
func readsClock(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if call, is := n.(*ast.CallExpr); is {
			name := lastName(call.Fun)
			found = found || strings.EqualFold(name, "now") || name == "Since" || name == "Until" ||
				name == "Read" && len(call.Args) == 1 && clockName().MatchString(lastName(call.Args[0]))
		}
		return !found
	})
	return found
}

// clockName matches the name of a kind of clock, as in Clock.Read(fakeclock.Monotonic).
var clockName = lazy.Regexp(`^(Monotonic|Wall)$`)

// countLeaseFromAnswer makes a lock count its lease from the answer to a request. It looks for a
// reading of a clock that is followed by a request and then used, and reads the clock again after
// the request.
func countLeaseFromAnswer(f *file) (changes []change) {
	f.statements(func(list []ast.Stmt, stack []ast.Node) {
		for i, s := range list {
			target, reading := f.reading(s)
			if reading == nil {
				continue
			}
			name, _, _ := strings.Cut(target, ".")
			for j := i + 1; j < len(list); j++ {
				if _, returns := list[j].(*ast.ReturnStmt); returns || !f.hasRequest(list[j]) {
					continue
				}
				if usesAfter(list[j+1:], name) {
					at := f.offset(list[j].End())
					changes = append(changes, change{{at, at, "; " + target + " = " + f.source(reading)}})
				}
				break
			}
		}
	})
	return changes
}

// reading returns the target to which a statement assigns a reading of a clock, and the expression
// that contains the reading. The target is a variable, or a field of the struct that the statement
// makes. The expression is nil if the statement assigns no reading.
func (f *file) reading(s ast.Stmt) (target string, reading ast.Expr) {
	a, is := s.(*ast.AssignStmt)
	if !is || len(a.Lhs) != 1 || len(a.Rhs) != 1 || f.hasRequest(s) || !readsClock(a.Rhs[0]) {
		return "", nil
	}
	name, is := a.Lhs[0].(*ast.Ident)
	if !is {
		return "", nil
	}
	value := a.Rhs[0]
	if address, is := value.(*ast.UnaryExpr); is && address.Op == token.AND {
		value = address.X
	}
	made, is := value.(*ast.CompositeLit)
	if !is {
		return name.Name, value
	}
	fields := f.fields[lastName(made.Type)]
	for i, e := range made.Elts {
		if !readsClock(e) {
			continue
		}
		if pair, is := e.(*ast.KeyValueExpr); is {
			return name.Name + "." + f.source(pair.Key), pair.Value
		}
		if i < len(fields) {
			return name.Name + "." + fields[i], e
		}
	}
	return "", nil
}

// usesAfter reports whether some statements use the variable called name.
func usesAfter(list []ast.Stmt, name string) bool {
	found := false
	for _, s := range list {
		ast.Inspect(s, func(n ast.Node) bool {
			id, is := n.(*ast.Ident)
			found = found || is && id.Name == name
			return !found
		})
	}
	return found
}

var (
	// timeLeft matches the name of a variable that says how long a lease still lasts. timeOver
	// matches the name of one that says how long ago a lease ended or was requested.
	timeLeft = lazy.Regexp(`(?i)^(left|remaining|timeleft|validity)$`)
	timeOver = lazy.Regexp(`(?i)^(overdue|elapsed)$`)
	// nowName matches the name of the present time.
	nowName = lazy.Regexp(`(?i)^now$`)
)

// skipElapsedCheck makes a test always true if it is true while a lease lasts, and always false if
// it is true after its end.
func skipElapsedCheck(f *file) (changes []change) {
	for _, t := range f.tests() {
		hasTime, is := testsTime(t.expr)
		switch {
		case is && hasTime:
			changes = append(changes, f.makeTrue(t))
		case is:
			changes = append(changes, f.makeFalse(t))
		}
	}
	return changes
}

// testsTime reports whether a test is about the present time (is), and whether it is true as
// long as there is time left (hasTime).
func testsTime(e ast.Expr) (hasTime, is bool) {
	switch e := e.(type) {
	case *ast.UnaryExpr:
		hasTime, is = testsTime(e.X)
		return !hasTime, is && e.Op == token.NOT
	case *ast.CallExpr:
		s, isMethod := e.Fun.(*ast.SelectorExpr)
		if !isMethod || len(e.Args) != 1 || s.Sel.Name != "Before" && s.Sel.Name != "After" {
			return false, false
		}
		isBefore := s.Sel.Name == "Before"
		if nowName().MatchString(lastName(s.X)) {
			return isBefore, true
		}
		return !isBefore, nowName().MatchString(lastName(e.Args[0]))
	case *ast.BinaryExpr:
		isGreater := e.Op == token.GTR || e.Op == token.GEQ
		if !isGreater && e.Op != token.LSS && e.Op != token.LEQ {
			return false, false
		}
		name := lastName(e.X)
		isLeft := (timeLeft().MatchString(name) || name == "Until") && isNumber(e.Y, "0")
		isOver := timeOver().MatchString(name) || name == "Since"
		return isLeft == isGreater, isLeft || isOver
	}
	return false, false
}
