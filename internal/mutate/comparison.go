package mutate

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"github.com/locksim/locksim/internal/lazy"
)

// dropComparison removes a condition on which a write to the lock's state depends, such as a
// comparison of the key's value with the client's own. It finds them in scripts, in SQL, in
// transactions of etcd, in commands of Redis with NX, and in Go.
func dropComparison(f *file) (changes []change) {
	ast.PreorderStack(f.tree, nil, func(n ast.Node, stack []ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				changes = append(changes, comparisonsInScript(n.Value, f.offset(n.Pos()))...)
				changes = append(changes, comparisonsInSQL(n.Value, f.offset(n.Pos()))...)
			}
		case *ast.CallExpr:
			changes = append(changes, f.comparisonsInCall(n)...)
		case *ast.BinaryExpr:
			if comparesHolders(n) {
				_, isPart := stack[len(stack)-1].(*ast.BinaryExpr)
				t := conditionPart{expr: n, isWhole: !isPart}
				if n.Op == token.EQL {
					changes = append(changes, f.makeTrue(t))
				} else {
					changes = append(changes, f.makeFalse(t))
				}
			}
		}
		return true
	})
	return changes
}

var (
	// script matches a text in Lua that runs commands of Redis.
	script = lazy.Regexp(`redis\.p?call\s*\(`)
	// luaComparison matches a comparison in Lua. Its operands are calls and variables.
	luaComparison = lazy.Regexp(luaOperand + `\s*(==|~=)\s*` + luaOperand)
	// nx matches the word NX among the arguments of a command in Lua.
	nx = lazy.Regexp(`(?i)\s*,\s*\\?["']nx\\?["']`)
)

const luaOperand = `((?:redis\.p?call|string\.sub)\s*\([^()]*\)|[A-Za-z_]\w*(?:\[\w+\])?)`

// comparisonsInScript returns the changes to a script in Lua: of its comparisons with an argument,
// and of commands with NX. The text begins at offset in its file.
func comparisonsInScript(text string, offset int) (changes []change) {
	if !script().MatchString(text) {
		return nil
	}
	for _, m := range luaComparison().FindAllStringSubmatchIndex(text, -1) {
		if all := text[m[0]:m[1]]; !strings.Contains(all, "ARGV[") {
			continue
		}
		result := "true"
		if text[m[4]:m[5]] == "~=" {
			result = "false"
		}
		changes = append(changes, change{{offset + m[0], offset + m[1], result}})
	}
	for _, m := range nx().FindAllStringIndex(text, -1) {
		changes = append(changes, change{{offset + m[0], offset + m[1], ""}})
	}
	return changes
}

var (
	// update matches SQL that changes or removes rows, up to its condition.
	update = lazy.Regexp(`(?is)\b(?:UPDATE|DELETE)\b.*\bWHERE\b`)
	// ownRow matches a comparison of a row's holder with a parameter of the query.
	ownRow = lazy.Regexp(`(?i)\b(?:\w+\.)?(?:` + holderWords + `)\s*=\s*(?:\$\d+|\?\d*|[:@]\w+)`)
)

// holderWords are common names of the value that identifies a lock's holder.
const holderWords = `holder|holder_id|owner|owner_id|locked_by|identity|token|value|val|word|nonce|uuid|secret|session_id`

// comparisonsInSQL returns the changes to a text in SQL, which begins at offset in its file.
// A change makes a comparison ineffective but keeps it, because servers refuse a query that
// does not use all its parameters.
func comparisonsInSQL(text string, offset int) (changes []change) {
	condition := update().FindStringIndex(text)
	if condition == nil {
		return nil
	}
	for _, m := range ownRow().FindAllStringIndex(text[condition[1]:], -1) {
		from, to := condition[1]+m[0], condition[1]+m[1]
		changes = append(changes, change{{offset + from, offset + to, "(" + text[from:to] + " OR 1 = 1)"}})
	}
	return changes
}

// comparisonsInCall returns the changes to a call in Go: of the comparisons of a transaction
// of etcd, and of the argument NX of a command of Redis.
func (f *file) comparisonsInCall(call *ast.CallExpr) (changes []change) {
	if lastName(call.Fun) == "If" && len(call.Args) > 0 && !call.Ellipsis.IsValid() && strings.Contains(f.source(call.Fun), "Txn(") {
		for name, where := range f.imports {
			if where == "go.etcd.io/etcd/client/v3" {
				from, to := f.offset(call.Args[0].Pos()), f.offset(call.Args[len(call.Args)-1].End())
				changes = append(changes, change{{from, from, "[]" + name + ".Cmp{"}, {to, to, "}[:0]..."}})
			}
		}
	}
	isNX := func(e ast.Expr) bool {
		l, is := e.(*ast.BasicLit)
		return is && strings.EqualFold(l.Value, `"NX"`)
	}
	if i := slices.IndexFunc(call.Args, isNX); i > 0 {
		changes = append(changes, f.withoutArguments(call, i, 1))
	}
	return changes
}

// holderName matches a name of the value that identifies a lock's holder.
var holderName = lazy.Regexp(`(?i)^(` + holderWords + `|holderidentity|id)$`)

// comparesHolders reports whether an expression compares two values, of which at least one
// seems, by its name, to identify the lock's holder.
func comparesHolders(e *ast.BinaryExpr) bool {
	if e.Op != token.EQL && e.Op != token.NEQ {
		return false
	}
	names := holderOf(e.X) + " " + holderOf(e.Y)
	return isVariable(e.X) && isVariable(e.Y) && slices.ContainsFunc(strings.Fields(names), holderName().MatchString)
}

// holderOf returns the name in an operand of a comparison. For a conversion, or another call with
// one argument, it is the name in the argument.
func holderOf(e ast.Expr) string {
	if call, is := e.(*ast.CallExpr); is && len(call.Args) == 1 {
		return holderOf(call.Args[0])
	}
	return lastName(e)
}

// isVariable reports whether an operand of a comparison is neither nil nor a literal.
func isVariable(e ast.Expr) bool {
	if call, is := e.(*ast.CallExpr); is {
		return lastName(call.Fun) != "len" && !slices.ContainsFunc(call.Args, func(a ast.Expr) bool { return !isVariable(a) })
	}
	_, isLiteral := e.(*ast.BasicLit)
	return !isLiteral && !isNil(e) && lastName(e) != "" && lastName(e) != "true" && lastName(e) != "false"
}
