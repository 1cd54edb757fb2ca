package scenarios

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/locksim/locksim/sim"
)

// No list and no mapping of a scenario can be of any length: each field that is one says
// in its tag how long it can be.
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
				if most, ok := mostItems(f); !ok || most < 1 {
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
			t.Errorf("%s was not looked at", name)
		}
	}
}

// A list or mapping can be as long as its limit and not one longer. The parser says how
// many there are and how many there can be, and the schema refuses the file too.
func TestLimits(t *testing.T) {
	words := func(n int, item string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(item+", ", n), ", ") + "]"
	}
	names := func(n int, name, settings string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%s-%d: %s, ", name, i+1, settings)
		}
		return "{" + strings.TrimSuffix(b.String(), ", ") + "}"
	}
	numbers := func(n int, name string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%s-%d, ", name, i+1)
		}
		return "[" + strings.TrimSuffix(b.String(), ", ") + "]"
	}
	schema := compileSchema(t)
	for _, c := range []struct {
		path string
		line int
		most int
		// file is the file with so many entries at the path.
		file func(n int) string
		// valid says that as many as there can be make a scenario by themselves.
		valid bool
	}{
		{"clients", 3, 1000, func(n int) string { return with("clients", names(n, "client", "{}")) }, true},
		{"nodes", 4, 500, func(n int) string { return with("nodes", names(n, "replica", "{replica-of: redis-1}")) }, true},
		{"services", 4, 100, func(n int) string { return with("services", names(n, "proxy", "{}")) }, true},
		{"variants", 4, 50, func(n int) string { return with("variants", names(n, "way", "{}")) }, true},
		{"faults", 4, 1000, func(n int) string { return with("faults", words(n, "{crash: redis-1}")) }, true},
		{"witnesses", 4, 200, func(n int) string { return with("witnesses", words(n, "client-1 wrote")) }, true},
		{"measures", 4, 50, func(n int) string { return with("measures", words(n, "duration")) }, false},
		{"clients.client-1.does", 3, 100, func(n int) string { return with("clients", "{client-1: {does: "+words(n, "read x")+"}}") }, true},
		{"network.paths", 4, 1000, func(n int) string {
			return with("network", "{paths: "+words(n, "{from: client-1, to: [redis-1], latency: 1ms}")+"}")
		}, true},
		{"network.paths[1].to", 4, 1000, func(n int) string {
			return with("network", "{paths: [{from: client-1, to: "+numbers(n, "redis")+", latency: 1ms}]}")
		}, false},
		{"tokens.nodes", 4, 101, func(n int) string { return with("tokens", "{source: quorum-incr, nodes: "+numbers(n, "redis")+"}") }, true},
		{"faults[1].from", 4, 1000, func(n int) string { return with("faults", "[{partition: client-1, from: "+numbers(n, "redis")+"}]") }, false},
		{"lock.without", 2, 50, func(n int) string {
			return with("lock", "{kind: redlock, ttl: 30s, without: "+words(n, "elapsed-check")+"}")
		}, false},
		{"expect-with", 4, 100, func(n int) string { return with("expect-with", names(n, "lock", "{}")) }, false},
		{"expect.off.violated", 4, 50, func(n int) string {
			return with("expect", "{off: {verdict: unsafe, violated: "+words(n, "write-order")+"}, on: {verdict: safe}}")
		}, false},
	} {
		most := c.file(c.most)
		if _, err := Parse("x.yaml", []byte(most)); c.valid && err != nil || err != nil && strings.Contains(err.Error(), "entries") {
			t.Errorf("%d entries of %s: %v", c.most, c.path, err)
		}
		if err := schema.Validate(plain(t, []byte(most))); c.valid && err != nil {
			t.Errorf("%d entries of %s: the schema: %.200v", c.most, c.path, err)
		}
		over := c.file(c.most + 2)
		want := fmt.Sprintf("x.yaml:%d: %s: there are %d entries, and there can be at most %d; leave 2 out", c.line, c.path, c.most+2, c.most)
		if c.path == "variants" {
			want = "x.yaml:4: variants: there are 52 variants, and a file has at most 50; give the others their own file"
		}
		if _, err := Parse("x.yaml", []byte(over)); err == nil || err.Error() != want {
			t.Errorf("too many entries of %s are told as\n%.300v\nand not as\n%s", c.path, err, want)
		}
		if schema.Validate(plain(t, []byte(over))) == nil {
			t.Errorf("the schema allows %d entries of %s", c.most+2, c.path)
		}
	}
}

// with is a scenario in which a field has a value.
func with(field, value string) string {
	fields := []string{"title: t", "lock: {kind: redlock, ttl: 30s}", "clients: {client-1: {}}"}
	for i, f := range fields {
		if strings.HasPrefix(f, field+":") {
			fields[i] = field + ": " + value
			value = ""
		}
	}
	if value != "" {
		fields = append(fields, field+": "+value)
	}
	if field != "expect" {
		fields = append(fields, "expect: {off: {verdict: safe}, on: {verdict: safe}}")
	}
	return strings.Join(fields, "\n") + "\n"
}

// However many names are wrong, those are told that come first, and what was probably
// meant by them.
func TestManyWrongNames(t *testing.T) {
	text := with("network", "{paths: [{from: client-1, latency: 1ms, to: ["+strings.Repeat("\n  client-2,", 1000)+"]}]}")
	_, err := Parse("x.yaml", []byte(text))
	told := strings.Split(fmt.Sprint(err), "\n")
	if len(told) != maxErrors {
		t.Fatalf("%d problems are told: %v", len(told), err)
	}
	for i, line := range told {
		if want := fmt.Sprintf(`x.yaml:%d: network.paths[1].to[%d]: no client is called "client-2"; did you mean "client-1"?`, 5+i, 1+i); line != want {
			t.Errorf("%s, want %s", line, want)
		}
	}
}

// A file in which nearly everything is wrong, in every variant again, is no work: few
// hints are looked for, no more problems are kept than can be told, and those that are
// told have their hint.
func TestEverythingIsWrong(t *testing.T) {
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
		{"points", clients("client-999 relesed"), `did you mean "client-999 released"?`},
		{"names", clients("client-9999 released"), `did you mean "client-999"?`},
		{"fields", fields.String(), `did you mean "title"?`},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree := read("x.yaml", []byte(c.text))
			tree.scenario()
			if n := len(tree.meanings); n != maxHints {
				t.Errorf("%d hints were looked for, want %d", n, maxHints)
			}
			if n := len(tree.errs); n != maxRecorded {
				t.Errorf("%d problems are kept, want %d", n, maxRecorded)
			}
			if tree.found > 6000 {
				t.Errorf("%d problems were found: the variants tell them again", tree.found)
			}
			told := tree.errs.tidied()
			if len(told) != maxErrors {
				t.Fatalf("%d problems are told, want %d", len(told), maxErrors)
			}
			for _, e := range told {
				if e.Hint != c.hint {
					t.Errorf("%v; want the hint %s", e, c.hint)
				}
			}
		})
	}
}

// What variants share is told once, and what is their own beside it, however few hints
// there are.
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
		t.Errorf("got\n%v\nwant\n%s…", err, want)
	}
}
