package explore

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Only package internal/story writes sentences about a run. This package and internal/runs
// contain words only in errors, in the tables by effect, which are for developers, and in
// the texts of this list.
func TestTheSearchHasNoSentences(t *testing.T) {
	allowed := []string{
		"the world", "a whole search", "the process that ran it ", "runs: cannot decode an order:", // parts of errors
		"\nfatal error: ",         // a text of Go's runtime
		string(TwoHolders),        // a name in reports
		"loses one to %s, has %d", // hashed into a behaviour
	}
	words := regexp.MustCompile(`[A-Za-z]{2,} +[A-Za-z]{2,}`)
	var files []string
	for _, of := range []string{"*.go", "../runs/*.go"} {
		found, err := filepath.Glob(of)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v, %v", of, found, err)
		}
		files = append(files, found...)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, declaration := range file.Decls {
			switch d := declaration.(type) {
			case *ast.GenDecl:
				if d.Tok == token.VAR {
					continue
				}
			case *ast.FuncDecl:
				if d.Name.Name == "Error" {
					continue
				}
			}
			ast.Inspect(declaration, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					return !slices.Contains([]string{"fmt.Errorf", "errors.New", "panic"}, types.ExprString(n.Fun))
				case *ast.BasicLit:
					text, _ := strconv.Unquote(n.Value)
					if n.Kind == token.STRING && words.MatchString(text) && !slices.Contains(allowed, text) {
						t.Errorf("%s: %s is for people to read: give internal/story the values, and write the sentence there", set.Position(n.Pos()), n.Value)
					}
				}
				return true
			})
		}
	}
}
