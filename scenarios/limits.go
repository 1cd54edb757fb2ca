package scenarios

import (
	"reflect"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// Every list of a scenario has a limit in its tag, as maxItems, and every mapping of names
// has one as maxProperties. The tags are the only place for these limits: the decoder reads
// them, and the JSON Schema is made of them.

// itemLimit returns how many entries the tag of a list or mapping allows; false if the tag
// has no limit.
func itemLimit(f reflect.StructField) (limit int, ok bool) {
	for _, rule := range strings.Split(f.Tag.Get("jsonschema"), ",") {
		name, n, _ := strings.Cut(rule, "=")
		if name == "maxItems" || name == "maxProperties" {
			limit, err := strconv.Atoi(n)
			return limit, err == nil
		}
	}
	return 0, false
}

// findField returns the field of a struct that has a name in scenario files.
func findField(t reflect.Type, name string) reflect.StructField {
	for _, f := range reflect.VisibleFields(t) {
		if own, _, _ := strings.Cut(f.Tag.Get("yaml"), ","); own == name {
			return f
		}
	}
	panic("scenarios: " + t.String() + " has no field " + name) // a bug of this package
}

// maxVariants limits the variants of a scenario.
var maxVariants, _ = itemLimit(findField(reflect.TypeFor[file](), "variants"))

// maxClients limits the clients of a scenario.
var maxClients, _ = itemLimit(findField(reflect.TypeFor[file](), "clients"))

// checkLimit reports a list or mapping that is longer than its field allows, and returns
// false. The caller then leaves the entries unread.
func (d *decoder) checkLimit(key, n *yaml.Node, f reflect.StructField) bool {
	most, ok := itemLimit(f)
	length := len(n.Content)
	if n.Kind == yaml.MappingNode {
		length /= 2
	}
	if !ok || length <= most || n.Kind == yaml.ScalarNode {
		return true
	}
	d.hasUnread = true
	d.report(key, "", "there are %d entries, and there can be at most %d", "leave "+strconv.Itoa(length-most)+" out", length, most)
	return false
}
