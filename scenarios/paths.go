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

// A Setting is a place of a scenario that an override can change.
type Setting struct {
	// Path is the path of the place in an override; see [Scenario.With].
	Path string
	// Value is the value there. It is empty if the scenario does not have the value, or if
	// it is a list or a mapping.
	Value string
	// Words are the values that the place can have; nil if there is no fixed list.
	Words []string
	// IsTime reports that the value is a duration.
	IsTime bool
}

// Settings returns what an override of the variant can change, in the order of the fields:
// each value of the file, and each field that the mappings of the file lack.
func (v *Variant) Settings() []Setting {
	var all []Setting
	walkSettings(reflect.TypeFor[spec](), v.root, "", func(s Setting) {
		name, _, _ := strings.Cut(strings.ReplaceAll(s.Path, "[", "."), ".")
		if !slices.Contains(commentary, name) {
			all = append(all, s)
		}
	})
	return all
}

// walkSettings calls found with each value in n, which has the type t, and with each place in it
// that could have a value. path is the path of n; n is nil if the file has nothing there.
func walkSettings(t reflect.Type, n *yaml.Node, path string, found func(Setting)) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if path != "" && (n != nil || isScalar(t)) {
		s := Setting{Path: path, IsTime: t == reflect.TypeFor[span]() || t == reflect.TypeFor[delay]()}
		if n != nil && n.Kind == yaml.ScalarNode {
			s.Value = n.Value
		}
		if e, ok := reflect.Zero(t).Interface().(enum); ok {
			s.Words = e.words()
		}
		found(s)
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
			walkSettings(value.Type, n.Content[i+1], joinPath(path, n.Content[i].Value), found)
		}
	case n != nil && n.Kind == yaml.SequenceNode && t.Kind() == reflect.Slice:
		for i, item := range n.Content {
			walkSettings(t.Elem(), item, fmt.Sprintf("%s[%d]", path, i+1), found)
		}
	case n == nil && path != "":
		found(Setting{Path: path})
	}
}

// walkFields calls walkSettings for each field of a struct.
func walkFields(t reflect.Type, n *yaml.Node, path string, found func(Setting)) {
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
		walkSettings(f.Type, value, joinPath(path, name), found)
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
