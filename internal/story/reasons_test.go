package story

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
)

// A Renderer formats the times and tokens of a reason, but not names that look like times
// or tokens. A reason at the beginning of a sentence has a capital letter, unless it begins
// with a name.
func TestRenderer(t *testing.T) {
	v := Renderer{
		time:  func(d time.Duration) string { return strconv.Itoa(int(d.Seconds())) + " seconds" },
		token: func(t checks.Token) string { return "…" + strconv.Itoa(int(t%10)) },
	}
	because := func(code checks.Code, args ...any) checks.Reason { return checks.Reason{Code: code, Args: args} }
	for _, c := range []struct {
		reason checks.Reason
		// words is the rendered reason, begun the same at the beginning of a sentence, and
		// plain the reason with exact times and tokens.
		words, begun, plain string
	}{
		{
			because("token-not-greater", "client-2", "12345678901", checks.Token(12345678901), checks.Token(12345678907), 3*time.Second),
			"client-2 has a newer grant than 12345678901, but at 3 seconds its fencing token (…1) was not greater than the other's (…7)",
			"client-2 has a newer grant than 12345678901, but at 3 seconds its fencing token (…1) was not greater than the other's (…7)",
			"client-2 has a newer grant than 12345678901, but at 3s its fencing token (12345678901) was not greater than the other's (12345678907)",
		},
		{
			because("removed-foreign-key", 2*time.Second, "a", "1500ms", "redis-1", "at").And(because("by-sent-later")).And(because("everybody-in")),
			`at 2 seconds, a removed the key "1500ms" on redis-1, which belonged to at, and that command had been sent before the command that set the key; there is no lock: every client enters its section`,
			`At 2 seconds, a removed the key "1500ms" on redis-1, which belonged to at, and that command had been sent before the command that set the key; there is no lock: every client enters its section`,
			`at 2s, a removed the key "1500ms" on redis-1, which belonged to at, and that command had been sent before the command that set the key; there is no lock: every client enters its section`,
		},
		{
			checks.NotHeld.Reason(checks.Progress, checks.Unknown).And(checks.AsStated.Reason(because("cut-off-too-early", time.Minute, history.Never))),
			"progress is unknown, expected to hold: the run was cut off at 60 seconds, before the bound for progress at " + history.Never.String(),
			"progress is unknown, expected to hold: the run was cut off at 60 seconds, before the bound for progress at " + history.Never.String(),
			"progress is unknown, expected to hold: the run was cut off at 1m0s, before the bound for progress at " + history.Never.String(),
		},
		{checks.Reason{}, "", "", ""},
	} {
		if got := v.Reason(c.reason); got != c.words {
			t.Errorf("within a sentence:\n%s\nwant\n%s", got, c.words)
		}
		if got := v.renderCapitalized(c.reason); got != c.begun {
			t.Errorf("at the beginning of a sentence:\n%s\nwant\n%s", got, c.begun)
		}
		if got := ForPrograms.Reason(c.reason); got != c.plain {
			t.Errorf("with exact times and tokens:\n%s\nwant\n%s", got, c.plain)
		}
	}
}

// Each code that package checks declares has a sentence that fits the code's arguments, and
// each sentence has a code.
func TestEachReasonHasASentence(t *testing.T) {
	samples := map[string]any{
		"string": "name", "int": 7, "int64": int64(7), "any": int64(7), "time.Duration": time.Second, "history.Moment": history.Moment{At: time.Second},
		"Token": checks.Token(7), "Outcome": checks.Holds, "Property": checks.Progress, "Reason": checks.InDoubt.Reason("a doubt"), "trace.Step": "acquire",
	}
	declared := declaredCodes(t)
	if len(declared) < 100 {
		t.Fatalf("checks/codes.go declares only %d codes, want at least 100: has the list moved to another file?", len(declared))
	}
	for code, types := range declared {
		if reasonSentences[code] == "" {
			t.Errorf("the reason %s has no sentence", code)
			continue
		}
		reason := checks.Reason{Code: code}
		for _, typ := range types {
			sample, ok := samples[typ]
			if !ok {
				t.Fatalf("the reason %s has an argument of type %s: add a value of this type to samples", code, typ)
			}
			reason.Args = append(reason.Args, sample)
		}
		if sentence := ForPrograms.Reason(reason); strings.Contains(sentence, "%!") {
			t.Errorf("the sentence of %s does not fit its arguments: %s", code, sentence)
		}
	}
	for code := range reasonSentences {
		if _, ok := declared[code]; !ok {
			t.Errorf("no reason has the code %s of a sentence", code)
		}
	}
}

// declaredCodes returns the codes of reasons, with the types of their arguments, as the
// source of package checks declares them.
func declaredCodes(t *testing.T) map[checks.Code][]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../checks/codes.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	declared := map[checks.Code][]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		code, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		var types []ast.Expr
		switch typ := spec.Type.(type) {
		case *ast.IndexExpr:
			types = []ast.Expr{typ.Index}
		case *ast.IndexListExpr:
			types = typ.Indices
		}
		declared[checks.Code(code)] = nil
		for _, typ := range types {
			name := ""
			switch typ := typ.(type) {
			case *ast.Ident:
				name = typ.Name
			case *ast.SelectorExpr:
				name = fmt.Sprintf("%s.%s", typ.X, typ.Sel)
			}
			declared[checks.Code(code)] = append(declared[checks.Code(code)], name)
		}
		return false
	})
	return declared
}
