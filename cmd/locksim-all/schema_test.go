package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"github.com/locksim/locksim/internal/testkit/floor"
)

// What an editor says of a scenario by scenarios/schema.json. It is tried here and not
// beside the schema, so that only this module requires what reads one.

func TestScenariosFollowTheSchema(t *testing.T) {
	schema := compileSchema(t)
	paths, err := filepath.Glob("../../scenarios/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("there are no scenarios: %v", err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(plain(t, data)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	if err := schema.Validate(plain(t, []byte(floor.GoodScenario))); err != nil {
		t.Errorf("the good file: %v", err)
	}
}

func TestTheSchemaSeesMistakes(t *testing.T) {
	schema := compileSchema(t)
	for _, m := range floor.Mistakes {
		if m.Schema && schema.Validate(plain(t, []byte(m.Text()))) == nil {
			t.Errorf("%s: the schema accepts it", m.Name)
		}
	}
}

func TestTheSchemaLimitsLists(t *testing.T) {
	schema := compileSchema(t)
	for _, l := range floor.Limits {
		if err := schema.Validate(plain(t, []byte(l.File(l.Most)))); l.Valid && err != nil {
			t.Errorf("%d entries of %s: %.200v", l.Most, l.Path, err)
		}
		if schema.Validate(plain(t, []byte(l.File(l.Most+2)))) == nil {
			t.Errorf("it allows %d entries of %s", l.Most+2, l.Path)
		}
	}
}

// readSchema reads the file that editors use. That it is what the types give is tried
// where it is.
func readSchema(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile("../../scenarios/schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func compileSchema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(readSchema(t)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// plain is a YAML file as a JSON Schema sees it.
func plain(t testing.TB, data []byte) any {
	t.Helper()
	var v any
	if err := yaml.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	asJSON, err := json.Marshal(textKeys(v))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// textKeys gives every mapping keys that JSON can have.
func textKeys(v any) any {
	switch v := v.(type) {
	case map[any]any:
		out := map[string]any{}
		for key, value := range v {
			out[fmt.Sprint(key)] = textKeys(value)
		}
		return out
	case map[string]any:
		for key, value := range v {
			v[key] = textKeys(value)
		}
	case []any:
		for i, value := range v {
			v[i] = textKeys(value)
		}
	}
	return v
}
