package scenarios

import (
	"fmt"
	"strconv"

	"gopkg.in/yaml.v3"

	"github.com/locksim/locksim/internal/lazy"
)

// Several clients that do the same can be written as one range: "client-1 to client-100:
// {works: 1s}". The code below replaces each range by its clients before a scenario's YAML
// is decoded.

// clientRangePattern matches two names that end in numbers, with " to " between them. It is
// for the JSON Schema. A pattern cannot compare the two names, so it also accepts ranges
// that expandClients reports as problems, such as "a-01 to b-0".
const clientRangePattern = `[a-z][a-z0-9]*(-[a-z0-9]+)*-[0-9]+ to [a-z][a-z0-9]*(-[a-z0-9]+)*-[0-9]+`

var clientRange = lazy.Regexp(`^([a-z][a-z0-9-]*-)([1-9][0-9]*) to ([a-z][a-z0-9-]*-)([1-9][0-9]*)$`)

// expandClientRanges replaces each range of clients by its clients, in the file and in its
// variants.
func (t *tree) expandClientRanges(root *yaml.Node) {
	versions := []*yaml.Node{root}
	if _, variants := removeKey(root, "variants"); variants != nil && variants.Kind == yaml.MappingNode {
		for i := 1; i < len(variants.Content); i += 2 {
			versions = append(versions, variants.Content[i])
		}
	}
	for _, s := range versions {
		if s.Kind != yaml.MappingNode {
			continue
		}
		if at := indexOf(s, "clients"); at >= 0 && s.Content[at+1].Kind == yaml.MappingNode {
			t.expandClients(s.Content[at+1])
		}
	}
}

// expandClients replaces each range in a mapping of clients by its clients. It reports a
// name that appears twice, a range that does not go upwards, and a range with which there
// would be more than maxClients clients.
func (t *tree) expandClients(clients *yaml.Node) {
	var out []*yaml.Node
	first := map[string]*yaml.Node{}
	add := func(key, value *yaml.Node) {
		if dup := first[key.Value]; dup != nil {
			t.report(key, "", "%s appears twice", fmt.Sprintf("the first is on line %d", dup.Line), quote(key.Value))
			return
		}
		first[key.Value] = key
		out = append(out, key, value)
	}
	for i := 0; i+1 < len(clients.Content); i += 2 {
		key, value := clients.Content[i], clients.Content[i+1]
		m := clientRange().FindStringSubmatch(key.Value)
		if m == nil {
			add(key, value)
			continue
		}
		from, _ := strconv.Atoi(m[2])
		to, err := strconv.Atoi(m[4])
		switch {
		case m[1] != m[3] || err != nil || to <= from:
			t.report(key, "", "%s is not a range of clients", "write a range as \"client-1 to client-10\"", quote(key.Value))
			continue
		case len(out)/2+to-from+1 > maxClients:
			t.report(key, "", "with these there are %d clients, and there can be at most %d", "", len(out)/2+to-from+1, maxClients)
			continue
		}
		for n := from; n <= to; n++ {
			one := *key
			one.Value = m[1] + strconv.Itoa(n)
			t.paths[&one] = t.paths[key]
			add(&one, value)
		}
	}
	clients.Content = out
}
