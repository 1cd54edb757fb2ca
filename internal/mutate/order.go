package mutate

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// A step is a statement that sends a request, together with the next statement if that tests
// the error of the request.
type step struct {
	request ast.Stmt
	check   *ast.IfStmt // nil if there is none
}

// end returns the last statement of a step.
func (s step) end() ast.Stmt {
	if s.check != nil {
		return s.check
	}
	return s.request
}

// swapOrder makes a lock send two requests in the wrong order: it swaps two adjacent steps.
func swapOrder(f *file) (changes []change) {
	f.statements(func(list []ast.Stmt, _ []ast.Node) {
		var before step
		for i := 0; i < len(list); {
			s, isStep := f.stepAt(list, i)
			if !isStep {
				before, i = step{}, i+1
				continue
			}
			if before.request != nil {
				if c := f.swap(before, s, declaredIn(list[:i])); c != nil {
					changes = append(changes, c)
				}
			}
			before, i = s, i+1
			if s.check != nil {
				i++
			}
		}
	})
	return changes
}

// stepAt returns the step that begins with the statement list[i], and whether there is one.
func (f *file) stepAt(list []ast.Stmt, i int) (step, bool) {
	switch list[i].(type) {
	case *ast.ExprStmt, *ast.AssignStmt:
	default:
		return step{}, false
	}
	if !f.hasRequest(list[i]) {
		return step{}, false
	}
	s := step{request: list[i]}
	if i+1 < len(list) {
		check, is := list[i+1].(*ast.IfStmt)
		if is && check.Init == nil && check.Else == nil && f.source(check.Cond) == "err != nil" {
			s.check = check
		}
	}
	return s, true
}

// declaredIn returns the names that some statements declare with :=, and the statement that
// declares each.
func declaredIn(list []ast.Stmt) map[string]ast.Stmt {
	names := map[string]ast.Stmt{}
	for _, s := range list {
		for _, name := range assigned(s, token.DEFINE) {
			if names[name] == nil {
				names[name] = s
			}
		}
	}
	return names
}

// assigned returns the names to which a statement assigns with the operator, which is := or
// =.
func assigned(s ast.Stmt, operator token.Token) (names []string) {
	a, is := s.(*ast.AssignStmt)
	if !is || a.Tok != operator {
		return nil
	}
	for _, e := range a.Lhs {
		if name, is := e.(*ast.Ident); is && name.Name != "_" {
			names = append(names, name.Name)
		}
	}
	return names
}

// swap returns the change that swaps two steps, or nil if the second step uses variables that
// the first declares. declared has the names that are declared before the second step. If the
// second step assigns to a variable that the first declares, mostly err, the change makes the
// second step declare it.
func (f *file) swap(first, second step, declared map[string]ast.Stmt) change {
	ofFirst := map[string]bool{}
	for name, by := range declared {
		if by == first.request {
			ofFirst[name] = true
		}
	}
	secondDeclares, onlyThese := false, true
	for _, name := range assigned(second.request, token.ASSIGN) {
		secondDeclares = secondDeclares || ofFirst[name]
		onlyThese = onlyThese && ofFirst[name]
	}
	if a, is := second.request.(*ast.AssignStmt); is {
		for _, e := range a.Rhs {
			if usesName(e, ofFirst) {
				return nil
			}
		}
	} else if usesName(second.request.(*ast.ExprStmt).X, ofFirst) {
		return nil
	}
	if secondDeclares && !onlyThese {
		return nil
	}
	declaresNothing := secondDeclares
	for name := range ofFirst {
		declaresNothing = declaresNothing && slices.Contains(assigned(second.request, token.ASSIGN), name)
	}
	firstText, secondText := f.stepText(first), f.stepText(second)
	if secondDeclares {
		secondText = strings.Replace(secondText, " = ", " := ", 1)
	}
	if declaresNothing {
		firstText = strings.Replace(firstText, " := ", " = ", 1)
	}
	return change{
		{f.offset(first.request.Pos()), f.offset(first.end().End()), secondText},
		{f.offset(second.request.Pos()), f.offset(second.end().End()), firstText},
	}
}

func (f *file) stepText(s step) string {
	return string(f.text[f.offset(s.request.Pos()):f.offset(s.end().End())])
}
