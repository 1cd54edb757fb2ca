package scenarios

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/testkit/simtest"
)

var update = flag.Bool("update", false, "rewrite schema.json")

// The file schema.json, which editors use, is the schema that makeSchema returns.
func TestSchemaIsCurrent(t *testing.T) {
	if *update {
		if err := os.WriteFile("schema.json", makeSchema(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, makeSchema()) {
		t.Error("schema.json is out of date: run go test ./scenarios -run Schema -update")
	}
}

// Every scenario names the schema in its first line. A test in cmd/locksim-all checks that
// the scenarios are valid by the schema.
func TestScenariosNameTheSchema(t *testing.T) {
	paths, err := filepath.Glob("*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("there are no scenarios here: %v", err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if first, _, _ := strings.Cut(string(data), "\n"); first != "# yaml-language-server: $schema=schema.json" {
			t.Errorf("%s: the first line is %q, which does not name the schema", path, first)
		}
	}
}

// The schema knows every registered kind of lock, kind of fault and property.
func TestSchemaKnowsTheRegistries(t *testing.T) {
	text := string(makeSchema())
	var words []string
	words = append(words, lockKind("").words()...)
	words = append(words, property("").words()...)
	words = append(words, simtest.FaultKinds()...)
	for _, word := range words {
		if !strings.Contains(text, `"`+word+`"`) {
			t.Errorf("the schema does not know %q", word)
		}
	}
}

// Every field has a description, and every type that is written as text has examples, which
// the parser accepts.
func TestSchemaHasDescriptionsAndExamples(t *testing.T) {
	var doc any
	if err := json.Unmarshal(makeSchema(), &doc); err != nil {
		t.Fatal(err)
	}
	fields := 0
	var visit func(path string, v any)
	visit = func(path string, v any) {
		m, _ := v.(map[string]any)
		properties, _ := m["properties"].(map[string]any)
		for name, p := range properties {
			fields++
			if p.(map[string]any)["description"] == nil {
				t.Errorf("%s/%s has no description", path, name)
			}
		}
		for name, inner := range m {
			if name != "then" { // it only repeats what is required
				visit(path+"/"+name, inner)
			}
		}
		list, _ := v.([]any)
		for i, inner := range list {
			visit(fmt.Sprintf("%s/%d", path, i), inner)
		}
	}
	visit("", doc)
	if fields < 50 {
		t.Errorf("the schema has only %d fields, want at least 50", fields)
	}
	for typ, parse := range scalarParsers {
		if len(examples[typ]) == 0 {
			t.Errorf("the type %v has no example", typ)
		}
		for _, e := range examples[typ] {
			if _, err := parse(e); err != nil {
				t.Errorf("the parser refuses the example %q of the type %v: %v", e, typ, err)
			}
		}
	}
}
