package mutate

import (
	"go/ast"
	"go/token"
)

// callersContext uses the caller's context where the lock makes a context that does not end with
// the caller's.
func callersContext(f *file) (changes []change) {
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

// isDefault reports whether the innermost node of stack is an assignment with =. Such an assignment
// mostly replaces a nil context by a default.
func isDefault(stack []ast.Node) bool {
	a, is := stack[len(stack)-1].(*ast.AssignStmt)
	return is && a.Tok == token.ASSIGN
}

// contextIn returns the name of the context parameter of the innermost function in stack
// that has one; "" if none has.
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
