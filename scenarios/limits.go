package scenarios

import (
	"reflect"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// Every list of a scenario says in its tag how long it can be, as maxItems, and every
// mapping of names as maxProperties. The tags are the one place: the decoder reads them,
// and the JSON Schema is made of them.

// mostItems is how many entries the tag of a list or mapping allows.
func mostItems(f reflect.StructField) (most int, ok bool) {
	for _, rule := range strings.Split(f.Tag.Get("jsonschema"), ",") {
		name, n, _ := strings.Cut(rule, "=")
		if name == "maxItems" || name == "maxProperties" {
			most, err := strconv.Atoi(n)
			return most, err == nil
		}
	}
	return 0, false
}

// fieldOf is the field of a struct that a file calls by a name.
func fieldOf(t reflect.Type, name string) reflect.StructField {
	for _, f := range reflect.VisibleFields(t) {
		if own, _, _ := strings.Cut(f.Tag.Get("yaml"), ","); own == name {
			return f
		}
	}
	panic("scenarios: " + t.String() + " has no field " + name) // a mistake of this package
}

// maxVariants bounds the versions of one story.
var maxVariants, _ = mostItems(fieldOf(reflect.TypeFor[file](), "variants"))

// maxClients bounds those of one story.
var maxClients, _ = mostItems(fieldOf(reflect.TypeFor[file](), "clients"))

// fits reports a list or mapping that is longer than its field allows. What is in it is
// then left unread.
func (d *decoder) fits(key, n *yaml.Node, f reflect.StructField) bool {
	most, ok := mostItems(f)
	length := len(n.Content)
	if n.Kind == yaml.MappingNode {
		length /= 2
	}
	if !ok || length <= most || n.Kind == yaml.ScalarNode {
		return true
	}
	d.crowded = true
	d.report(key, "", "there are %d entries, and there can be at most %d", "leave "+strconv.Itoa(length-most)+" out", length, most)
	return false
}
