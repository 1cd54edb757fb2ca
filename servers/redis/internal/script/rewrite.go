package script

import (
	"io"
	"reflect"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"
)

// The functions that [rewrite] makes scripts call. No script can write their names.
const (
	concatName  = "(concat)"
	countedName = "(counted)"
)

// compileSource compiles a script, or code that a script loads.
func compileSource(text io.Reader, name string) (*lua.FunctionProto, error) {
	chunk, err := parse.Parse(text, name)
	if err != nil {
		return nil, err
	}
	rewrite(reflect.ValueOf(chunk))
	return lua.Compile(chunk, name)
}

// rewrite changes a syntax tree. Two things can use any amount of memory in one
// instruction: the operator .., and a table made of all the values of a call or of `...`.
// It replaces them by calls of functions that ask the meter.
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
			if n := len(e.Fields); n > 0 && e.Fields[n-1].Key == nil && hasManyValues(e.Fields[n-1].Value) {
				v.Set(reflect.ValueOf(callExpr(countedName, e, e)))
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

// operands returns the operands of .. and those of its right side, which has already been
// rewritten.
func operands(e *ast.StringConcatOpExpr) []ast.Expr {
	if right, ok := e.Rhs.(*ast.FuncCallExpr); ok && isCallOf(right, concatName) {
		return append([]ast.Expr{e.Lhs}, right.Args...)
	}
	return []ast.Expr{e.Lhs, e.Rhs}
}

func isCallOf(e *ast.FuncCallExpr, name string) bool {
	f, ok := e.Func.(*ast.IdentExpr)
	return ok && f.Value == name
}

// callExpr returns a call of a function that has one value, to replace an expression.
func callExpr(name string, of ast.Expr, arguments ...ast.Expr) *ast.FuncCallExpr {
	f := &ast.IdentExpr{Value: name}
	e := &ast.FuncCallExpr{Func: f, Args: arguments, AdjustRet: true}
	// The last operand may be a call, or `...`: only its first value counts.
	if name == concatName {
		for _, a := range arguments {
			truncateToOne(a)
		}
	}
	for _, p := range []ast.PositionHolder{f, e} {
		p.SetLine(of.Line())
		p.SetLastLine(of.LastLine())
	}
	return e
}

func truncateToOne(e ast.Expr) {
	switch e := e.(type) {
	case *ast.FuncCallExpr:
		e.AdjustRet = true
	case *ast.Comma3Expr:
		e.AdjustRet = true
	}
}

func hasManyValues(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.FuncCallExpr:
		return !e.AdjustRet
	case *ast.Comma3Expr:
		return !e.AdjustRet
	}
	return false
}
