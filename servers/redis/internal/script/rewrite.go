package script

import (
	"io"
	"reflect"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"
)

// The names of the functions that [rewrite] makes scripts call. No script can write these
// names, because of the parentheses.
const (
	concatName      = "(concat)"
	chargeTableName = "(counted)"
)

// compileSource compiles a script, or code that a script loads. Errors mention the given
// name.
func compileSource(text io.Reader, name string) (*lua.FunctionProto, error) {
	chunk, err := parse.Parse(text, name)
	if err != nil {
		return nil, err
	}
	rewrite(reflect.ValueOf(chunk))
	return lua.Compile(chunk, name)
}

// rewrite changes a syntax tree so that the script charges its meter. Two things can use
// any amount of memory in one instruction: the operator .., and a table made of all results
// of a call or of all values of `...`. rewrite replaces the operator by a call of concat,
// and passes such a table to chargeTable.
func rewrite(v reflect.Value) {
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			rewrite(v.Index(i))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			rewrite(v.Elem())
		}
	case reflect.Interface:
		if v.IsNil() {
			return
		}
		rewrite(v.Elem())
		switch e := v.Interface().(type) {
		case *ast.StringConcatOpExpr:
			v.Set(reflect.ValueOf(callExpr(concatName, e, operands(e)...)))
		case *ast.TableExpr:
			if n := len(e.Fields); n > 0 && e.Fields[n-1].Key == nil && mayHaveManyValues(e.Fields[n-1].Value) {
				v.Set(reflect.ValueOf(callExpr(chargeTableName, e, e)))
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				rewrite(f)
			}
		}
	}
}

// operands returns the operands of a chain such as a .. b .. c. The right side of the first
// operator has already been rewritten as a call of concat.
func operands(e *ast.StringConcatOpExpr) []ast.Expr {
	if right, ok := e.Rhs.(*ast.FuncCallExpr); ok && isCallOf(right, concatName) {
		return append([]ast.Expr{e.Lhs}, right.Args...)
	}
	return []ast.Expr{e.Lhs, e.Rhs}
}

// isCallOf reports whether an expression calls the function of this name.
func isCallOf(e *ast.FuncCallExpr, name string) bool {
	f, ok := e.Func.(*ast.IdentExpr)
	return ok && f.Value == name
}

// callExpr returns a call of a function that has one result. The call takes the place of an
// expression in the source, so it gets that expression's line.
func callExpr(name string, replaced ast.Expr, arguments ...ast.Expr) *ast.FuncCallExpr {
	f := &ast.IdentExpr{Value: name}
	e := &ast.FuncCallExpr{Func: f, Args: arguments, AdjustRet: true}
	// The last operand may be a call, or `...`: only its first value counts.
	if name == concatName {
		for _, a := range arguments {
			truncateToOne(a)
		}
	}
	for _, p := range []ast.PositionHolder{f, e} {
		p.SetLine(replaced.Line())
		p.SetLastLine(replaced.LastLine())
	}
	return e
}

// truncateToOne makes an expression that may have several values yield only the first.
func truncateToOne(e ast.Expr) {
	switch e := e.(type) {
	case *ast.FuncCallExpr:
		e.AdjustRet = true
	case *ast.Comma3Expr:
		e.AdjustRet = true
	}
}

// mayHaveManyValues reports whether an expression may have several values: a call, or
// `...`.
func mayHaveManyValues(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.FuncCallExpr:
		return !e.AdjustRet
	case *ast.Comma3Expr:
		return !e.AdjustRet
	}
	return false
}
