package scenarios

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
)

// Each list and each mapping of a scenario has a limit in its tag.
func TestEveryListIsLimited(t *testing.T) {
	var seen []string
	var visit func(at reflect.Type)
	visit = func(at reflect.Type) {
		for _, f := range reflect.VisibleFields(at) {
			name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			if name == "" || !f.IsExported() {
				continue
			}
			of := f.Type
			if of.Kind() == reflect.Pointer {
				of = of.Elem()
			}
			if _, text := scalarParsers[of]; text {
				continue
			}
			if of.Kind() == reflect.Slice {
				if most, ok := itemLimit(f); !ok || most < 1 {
					t.Errorf("%s of %v has no limit", name, at)
				}
				seen = append(seen, name)
				of = of.Elem()
				if strings.HasPrefix(of.Name(), "entry[") {
					value, _ := of.FieldByName("value")
					of = value.Type
				}
			}
			if _, text := scalarParsers[of]; !text && of.Kind() == reflect.Struct {
				visit(of)
			}
		}
	}
	visit(reflect.TypeFor[file]())
	for _, kind := range sim.FaultKinds() {
		visit(reflect.TypeOf(kind.New()).Elem())
	}
	for _, name := range []string{"clients", "nodes", "does", "faults", "variants", "to", "from", "violated", "without"} {
		if !strings.Contains(" "+strings.Join(seen, " ")+" ", " "+name+" ") {
			t.Errorf("the test has not found the list %s", name)
		}
	}
}

// A list or mapping can be as long as its limit, but not longer. The error names the length
// and the limit.
func TestLimits(t *testing.T) {
	for _, l := range simtest.Limits {
		if _, err := Parse("x.yaml", []byte(l.File(l.Max))); l.Valid && err != nil || err != nil && strings.Contains(err.Error(), "entries") {
			t.Errorf("a list of %d entries in %s is refused: %v", l.Max, l.Path, err)
		}
		want := fmt.Sprintf("x.yaml:%d: %s: there are %d entries, and there can be at most %d; leave 2 out", l.Line, l.Path, l.Max+2, l.Max)
		if l.Path == "variants" {
			want = "x.yaml:4: variants: there are 52 variants, and a file has at most 50; give the others their own file"
		}
		if _, err := Parse("x.yaml", []byte(l.File(l.Max+2))); err == nil || err.Error() != want {
			t.Errorf("too many entries of %s are reported as\n%.300v\nwant\n%s", l.Path, err, want)
		}
	}
}

// If many names are wrong, the first ones are reported, with what was probably meant.
func TestManyWrongNames(t *testing.T) {
	text := simtest.ScenarioWith("network", "{paths: [{from: client-1, latency: 1ms, to: ["+strings.Repeat("\n  client-2,", 1000)+"]}]}")
	_, err := Parse("x.yaml", []byte(text))
	reported := strings.Split(fmt.Sprint(err), "\n")
	if len(reported) != maxErrors {
		t.Fatalf("%d problems are reported, want %d: %v", len(reported), maxErrors, err)
	}
	for i, line := range reported {
		if want := fmt.Sprintf(`x.yaml:%d: network.paths[1].to[%d]: no client is called "client-2"; did you mean "client-1"?`, 5+i, 1+i); line != want {
			t.Errorf("problem %d is reported as %s, want %s", i+1, line, want)
		}
	}
}

// A file in which nearly everything is wrong, and again in every variant, takes little
// time. Hints are looked for only for some problems, and only some problems are recorded.
// Still, all problems that are reported have their hint.
func TestWorkForMistakesIsLimited(t *testing.T) {
	// clients returns a file with a thousand clients, which all start at the same wrong point, and
	// fifty variants.
	clients := func(starts string) string {
		var b strings.Builder
		b.WriteString("title: t\nlock: {kind: redlock, ttl: 30s}\nclients:\n  client-1: {}\n")
		for i := range 999 {
			fmt.Fprintf(&b, "  client-%d: {starts: %s}\n", i+2, starts)
		}
		b.WriteString("variants:\n")
		for i := range 50 {
			fmt.Fprintf(&b, "  v%d: {clients: {client-1: {works: %ds}}}\n", i, i+1)
		}
		return b.String()
	}
	var fields strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&fields, "titel%d: t\n", i)
	}
	for _, c := range []struct{ name, text, hint string }{
		{"misspelt points", clients("client-999 relesed"), `did you mean "client-999 released"?`},
		{"misspelt names in points", clients("client-9999 released"), `did you mean "client-999"?`},
		{"misspelt fields", fields.String(), `did you mean "title"?`},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree := parseTree("x.yaml", []byte(c.text))
			tree.interpret()
			if n := len(tree.suggestions); n != maxHints {
				t.Errorf("%d hints were computed, want %d", n, maxHints)
			}
			if n := len(tree.errs); n != maxRecorded {
				t.Errorf("%d problems are recorded, want %d", n, maxRecorded)
			}
			if tree.found > 6000 {
				t.Errorf("%d problems were found, want at most 6000: the variants report them again", tree.found)
			}
			reported := tree.errs.summarize()
			if len(reported) != maxErrors {
				t.Fatalf("%d problems are reported, want %d", len(reported), maxErrors)
			}
			for _, e := range reported {
				if e.Hint != c.hint {
					t.Errorf("%v; want the hint %s", e, c.hint)
				}
			}
		})
	}
}

// A problem that variants share is reported once. A problem of one variant is reported too,
// although the number of hints is limited.
func TestVariantsShareHints(t *testing.T) {
	var b strings.Builder
	b.WriteString("title: t\nlock: {kind: redlock, ttl: 30s}\nclients:\n  client-1: {starts: client-3 acquired}\n  client-2: {}\nvariants:\n")
	for i := range 49 {
		fmt.Fprintf(&b, "  v%d: {horizon: %dm}\n", i, i+1)
	}
	b.WriteString("  last: {clients: {client-2: {starts: client-1 relesed}}}\n")
	_, err := Parse("x.yaml", []byte(b.String()))
	want := `x.yaml:4: clients.client-1.starts: no client is called "client-3"; did you mean "client-1"?
x.yaml:56: variants.last.clients.client-2.starts: `
	if got := fmt.Sprint(err); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, `; did you mean "client-1 released"?`) {
		t.Errorf("the error is\n%v\nwant\n%s…", err, want)
	}
}
