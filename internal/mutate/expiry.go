package mutate

import (
	"go/ast"
	"go/token"
	"strings"

	"github.com/locksim/locksim/internal/lazy"
)

// expiryArgument matches an argument such as PX of a command in Lua, with the element of ARGV after
// it, which is the TTL.
var expiryArgument = lazy.Regexp(`(?i)\s*,\s*\\?["'](?:ex|px|exat|pxat)\\?["']\s*,\s*ARGV\[\w+\]`)

// expiryWord matches an argument that says that the next one is the expiry.
var expiryWord = lazy.Regexp(`(?i)^"(?:ex|px|exat|pxat)"$`)

// noExpiry leaves the expiry of a key out: the TTL of SET NX, the lease of a key of etcd,
// and the flag that makes a node of ZooKeeper ephemeral.
func noExpiry(f *file) (changes []change) {
	ast.Inspect(f.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				changes = append(changes, expiriesInScript(n.Value, f.offset(n.Pos()))...)
			}
		case *ast.SelectorExpr:
			if f.source(n) == "zk.FlagEphemeral" {
				changes = append(changes, change{f.replace(n, "0")})
			}
		case *ast.CallExpr:
			if last := len(n.Args) - 1; lastName(n.Fun) == "SetNX" && last >= 2 && !isNumber(n.Args[last], "0") {
				changes = append(changes, change{f.replace(n.Args[last], "0")})
			}
			for i, a := range n.Args {
				if call, is := a.(*ast.CallExpr); is && lastName(call.Fun) == "WithLease" {
					changes = append(changes, f.withoutArguments(n, i, 1))
				}
				if word, is := a.(*ast.BasicLit); is && expiryWord().MatchString(word.Value) && i+1 < len(n.Args) {
					changes = append(changes, f.withoutArguments(n, i, 2))
				}
			}
		}
		return true
	})
	return changes
}

func expiriesInScript(text string, offset int) (changes []change) {
	if !script().MatchString(text) {
		return nil
	}
	for _, m := range expiryArgument().FindAllStringIndex(text, -1) {
		changes = append(changes, change{{offset + m[0], offset + m[1], ""}})
	}
	return changes
}

// milliseconds matches the commands and arguments of Redis that take a TTL in milliseconds.
var milliseconds = lazy.Regexp(`(?i)["'](pexpire|px)\\?["']`)

// ttlUnit sends a TTL in another unit: milliseconds where seconds are expected, or the other
// way round, or microseconds. It also rounds down a TTL that the lock rounds up.
func ttlUnit(f *file) (changes []change) {
	ast.Inspect(f.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if n.Kind == token.STRING && (script().MatchString(n.Value) || milliseconds().FindString(n.Value) == n.Value) {
				changes = append(changes, unitsInScript(n.Value, f.offset(n.Pos()))...)
			}
		case *ast.SelectorExpr:
			if n.Sel.Name == "Milliseconds" {
				changes = append(changes, change{f.replace(n.Sel, "Microseconds")})
			}
		case *ast.BinaryExpr:
			if n.Op != token.QUO {
				break
			}
			unit := f.source(n.Y)
			if unit == "time.Millisecond" {
				changes = append(changes, change{f.replace(n.Y, "time.Second")})
			}
			if sum, cut := strings.CutSuffix(f.source(n.X), " + "+unit+" - 1)"); cut {
				changes = append(changes, change{f.replace(n.X, strings.TrimPrefix(sum, "("))})
			}
		}
		return true
	})
	return changes
}

// unitsInScript returns the changes that make commands count in seconds, as PEXPIRE becomes
// EXPIRE, and PX becomes EX. The text begins at offset in its file.
func unitsInScript(text string, offset int) (changes []change) {
	for _, m := range milliseconds().FindAllStringSubmatchIndex(text, -1) {
		from, to := m[2], m[3]
		word := text[from+1 : to] // expire, or x, which becomes ex
		switch word {
		case "x":
			word = "ex"
		case "X":
			word = "EX"
		}
		changes = append(changes, change{{offset + from, offset + to, word}})
	}
	return changes
}
