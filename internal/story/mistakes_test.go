package story

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/locksim/locksim/checks"
)

// Each mistake that checks recognises has a title and a remedy, and each text belongs to a
// mistake or to a property. The scenarios that are named exist.
func TestEachMistakeHasTexts(t *testing.T) {
	declared := declaredMistakes(t)
	if len(declared) < 15 {
		t.Fatalf("checks/mistake*.go declare only %d mistakes, want at least 15: have they moved to another file?", len(declared))
	}
	for _, m := range declared {
		if text := mistakeTexts[m]; text.does == "" || text.remedy == "" {
			t.Errorf("the mistake %s lacks a title or a remedy", m)
		}
	}
	for m, text := range mistakeTexts {
		known := checks.Property(m).Title() != ""
		for _, d := range declared {
			known = known || d == m
		}
		if !known {
			t.Errorf("mistakeTexts has a text for %s, which is neither a mistake nor a property", m)
		}
		if strings.HasSuffix(text.remedy, ".") {
			t.Errorf("the remedy of %s ends with a full stop", m)
		}
		if text.scenario == "" {
			continue
		}
		if _, err := os.Stat("../../scenarios/" + text.scenario + ".yaml"); err != nil {
			t.Errorf("the scenario of the mistake %s does not exist: %v", m, err)
		}
	}
}

// declaredMistakes returns the mistakes that the source of checks declares.
func declaredMistakes(t *testing.T) (all []checks.Mistake) {
	t.Helper()
	files, err := filepath.Glob("../../checks/mistake*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, mistakesIn(t, file)...)
	}
	return all
}

// mistakesIn returns the mistakes that a file declares.
func mistakesIn(t *testing.T, file *ast.File) (all []checks.Mistake) {
	t.Helper()
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) == 0 {
			return true
		}
		typ, ok := spec.Type.(*ast.Ident)
		if !ok || typ.Name != "Mistake" {
			return true
		}
		name, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, checks.Mistake(name))
		return true
	})
	return all
}
