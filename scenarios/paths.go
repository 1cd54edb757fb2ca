package scenarios

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/locksim/locksim/sim"
)

// commentary are the top-level fields that describe or judge a scenario as its author wrote
// it. An override cannot change them, and a changed scenario keeps only its title.
var commentary = []string{"title", "group", "source", "assumption", "story", "question", "why", "prevention", "says", "witnesses", "expect", "expect-with", "lesson"}

// Paths returns the paths that an override of the scenario can have, in the order of the
// fields: the path of each value in the file, and of each field that its mappings lack.
func (s *Scenario) Paths() []string {
	var paths []string
	known := map[string]bool{}
	for _, v := range s.Variants {
		walkPaths(reflect.TypeFor[spec](), v.root, "", func(path string) {
			name, _, _ := strings.Cut(strings.ReplaceAll(path, "[", "."), ".")
			if !known[path] && !slices.Contains(commentary, name) {
				known[path] = true
				paths = append(paths, path)
			}
		})
	}
	return paths
}

// walkPaths calls found with the path of each value in n, which has the type t, and of each
// value that could be there. n is nil if nothing is written.
func walkPaths(t reflect.Type, n *yaml.Node, path string, found func(path string)) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if path != "" && (n != nil || isScalar(t)) {
		found(path)
	}
	switch {
	case isScalar(t):
	case t == reflect.TypeFor[fault]():
		walkFields(reflect.TypeFor[timing](), n, path, found)
		if kind, ok := faultKindIn(n); ok {
			walkFields(reflect.TypeOf(kind.New()).Elem(), n, path, found)
		}
	case t.Kind() == reflect.Struct:
		walkFields(t, n, path, found)
	case n != nil && n.Kind == yaml.MappingNode && t.Kind() == reflect.Slice: // a mapping of names
		value, _ := t.Elem().FieldByName("value")
		for i := 0; i+1 < len(n.Content); i += 2 {
			walkPaths(value.Type, n.Content[i+1], joinPath(path, n.Content[i].Value), found)
		}
	case n != nil && n.Kind == yaml.SequenceNode && t.Kind() == reflect.Slice:
		for i, item := range n.Content {
			walkPaths(t.Elem(), item, fmt.Sprintf("%s[%d]", path, i+1), found)
		}
	case n == nil && path != "":
		found(path)
	}
}

// walkFields calls walkPaths for each field of a struct.
func walkFields(t reflect.Type, n *yaml.Node, path string, found func(path string)) {
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if name == "" || name == "-" || !f.IsExported() {
			continue
		}
		var value *yaml.Node
		if n != nil && n.Kind == yaml.MappingNode {
			if at := indexOf(n, name); at >= 0 {
				value = n.Content[at+1]
			}
		}
		walkPaths(f.Type, value, joinPath(path, name), found)
	}
}

// isScalar reports whether a value of type t is written as one word or text.
func isScalar(t reflect.Type) bool {
	if _, ok := scalarParsers[t]; ok {
		return true
	}
	if _, ok := reflect.New(t).Interface().(encoding.TextUnmarshaler); ok {
		return true
	}
	return slices.Contains([]reflect.Kind{reflect.String, reflect.Bool, reflect.Int, reflect.Int64, reflect.Uint64}, t.Kind())
}

// faultKindIn returns the kind of a written fault.
func faultKindIn(n *yaml.Node) (sim.FaultKind, bool) {
	if n != nil && n.Kind == yaml.MappingNode {
		for _, kind := range sim.FaultKinds() {
			if indexOf(n, kind.Name) >= 0 {
				return kind, true
			}
		}
	}
	return sim.FaultKind{}, false
}
