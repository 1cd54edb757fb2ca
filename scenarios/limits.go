package scenarios

import (
	"reflect"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// Every list in a scenario has a limit in its tag, called maxItems, and every mapping of
// names has one, called maxProperties. The limits are written only in the tags: the decoder
// reads them there, and the JSON Schema is made from them.

// itemLimit returns how many entries a list or mapping may have according to its tag; false
// if the tag has no limit.
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

// findField returns the field of a struct type that is called name in scenario files.
func findField(t reflect.Type, name string) reflect.StructField {
	for _, f := range reflect.VisibleFields(t) {
		if own, _, _ := strings.Cut(f.Tag.Get("yaml"), ","); own == name {
			return f
		}
	}
	panic("scenarios: " + t.String() + " has no field " + name) // a bug of this package
}

// maxVariants is the greatest number of variants of a scenario.
var maxVariants, _ = itemLimit(findField(reflect.TypeFor[file](), "variants"))

// maxClients is the greatest number of clients of a scenario.
var maxClients, _ = itemLimit(findField(reflect.TypeFor[file](), "clients"))

// checkLimit reports a list or mapping with more entries than its field allows. It then
// returns false, and the caller must not read the entries.
func (d *decoder) checkLimit(key, n *yaml.Node, f reflect.StructField) bool {
	limit, ok := itemLimit(f)
	length := len(n.Content)
	if n.Kind == yaml.MappingNode {
		length /= 2
	}
	if !ok || length <= limit || n.Kind == yaml.ScalarNode {
		return true
	}
	d.hasUnread = true
	d.report(key, "", "there are %d entries, and there can be at most %d", "leave "+strconv.Itoa(length-limit)+" out", length, limit)
	return false
}
