package checks_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/story"
)

// The tests of this package compare sentences, which only internal/story can write.
func init() { checks.Sentences = story.ForPrograms }

// Only internal/story writes sentences about a run. The texts of this package are on the
// cards of properties and measures, in errors, in the names of properties, and in names
// that reports use, such as "round trips".
func TestChecksHasNoSentences(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
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
			if cards, ok := declaration.(*ast.GenDecl); ok && cards.Tok == token.VAR {
				continue
			}
			ast.Inspect(declaration, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.ValueSpec:
					return n.Type == nil || types.ExprString(n.Type) != "Property"
				case *ast.CallExpr:
					return !slices.Contains([]string{"fmt.Errorf", "errors.New", "panic"}, types.ExprString(n.Fun))
				case *ast.CompositeLit:
					return n.Type == nil || !strings.HasSuffix(types.ExprString(n.Type), "Figure")
				case *ast.BasicLit:
					text, _ := strconv.Unquote(n.Value)
					if n.Kind == token.STRING && strings.Contains(strings.TrimSpace(text), " ") && text != "round trips" && text != string(checks.KindInherent) {
						t.Errorf("%s: %s is for people to read: give a reason's code, and write its sentence in internal/story", set.Position(n.Pos()), n.Value)
					}
				}
				return true
			})
		}
	}
}
