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

	"github.com/locksim/locksim/internal/testkit/simtest"
)

// These tests check scenarios/schema.json as editors use it. They are not in package
// scenarios, so that only this module requires a library that reads schemas.

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
		if err := schema.Validate(toJSONValue(t, data)); err != nil {
			t.Errorf("the schema refuses %s: %v", path, err)
		}
	}
	if err := schema.Validate(toJSONValue(t, []byte(simtest.GoodScenario))); err != nil {
		t.Errorf("the schema refuses the scenario that is valid: %v", err)
	}
}

func TestTheSchemaSeesMistakes(t *testing.T) {
	schema := compileSchema(t)
	for _, m := range simtest.Mistakes {
		if m.Schema && schema.Validate(toJSONValue(t, []byte(m.Text()))) == nil {
			t.Errorf("the schema accepts a file with the mistake: %s", m.Name)
		}
	}
}

func TestTheSchemaLimitsLists(t *testing.T) {
	schema := compileSchema(t)
	for _, l := range simtest.Limits {
		if err := schema.Validate(toJSONValue(t, []byte(l.File(l.Max)))); l.Valid && err != nil {
			t.Errorf("the schema refuses %d entries of %s: %.200v", l.Max, l.Path, err)
		}
		if schema.Validate(toJSONValue(t, []byte(l.File(l.Max+2)))) == nil {
			t.Errorf("the schema accepts %d entries of %s", l.Max+2, l.Path)
		}
	}
}

// readSchema reads the schema that editors use. A test in package scenarios checks that
// this file is up to date.
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

// toJSONValue returns a YAML file as the value that a JSON Schema validates.
func toJSONValue(t testing.TB, data []byte) any {
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

// textKeys converts the keys of all mappings to strings, as JSON needs them.
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
