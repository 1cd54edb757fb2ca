package mutate

import (
	"go/ast"

	"github.com/locksim/locksim/internal/lazy"
)

var (
	// randomPackage matches the import path of a package that makes random identifiers.
	randomPackage = lazy.Regexp(`(?i)(^|/)(uuid|ulid|xid|ksuid|nanoid|go-nanoid)(/|$)`)
	// maker matches the name of a function that makes a random value.
	maker = lazy.Regexp(`(?i)^(?:(?:new|gen|generate|make|create|random)\w*(?:value|token|id|uuid|nonce|text|string|func)|random)$`)
	// digest matches the source of an encoded value that is a hash, and so not random.
	digest = lazy.Regexp(`(?i)sha|sum|hash|digest`)
)

// oneValue makes a lock set the same value for all clients: it replaces the call that makes
// the random value by a constant.
func oneValue(f *file) (changes []change) {
	ast.Inspect(f.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			call, is := n.Rhs[0].(*ast.CallExpr)
			if !is || len(n.Rhs) != 1 || !maker().MatchString(lastName(call.Fun)) || f.isRandomText(call) {
				break
			}
			switch {
			case len(n.Lhs) == 1:
				changes = append(changes, change{f.replace(call, `"locked"`)})
			case len(n.Lhs) == 2 && lastName(n.Lhs[1]) == "err":
				changes = append(changes, change{f.replace(call, `"locked", error(nil)`)})
			}
		case *ast.CallExpr:
			if f.isRandomText(n) {
				changes = append(changes, change{f.replace(n, `"locked"`)})
			}
		}
		return true
	})
	return changes
}

// isRandomText reports whether a call returns random text by a function of a known package:
// crypto/rand.Text, an encoding of bytes as text, or an identifier as text.
func (f *file) isRandomText(call *ast.CallExpr) bool {
	s, is := call.Fun.(*ast.SelectorExpr)
	if !is {
		return false
	}
	where := f.imports[firstName(s.X)]
	switch s.Sel.Name {
	case "Text":
		return where == "crypto/rand"
	case "EncodeToString":
		return (where == "encoding/hex" || where == "encoding/base64" || where == "encoding/base32") && !digest().MatchString(f.source(call))
	case "NewString", "String":
		return randomPackage().MatchString(where)
	}
	return false
}

// firstName returns the first identifier of an expression such as base64.StdEncoding, or "".
func firstName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return firstName(e.X)
	case *ast.CallExpr:
		return firstName(e.Fun)
	}
	return ""
}
