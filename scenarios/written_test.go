package scenarios

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// WrittenValues returns each value of a variant by its path, as YAML on one line, but not
// what the author wrote about the scenario.
func WrittenValues(v *Variant) map[string]string {
	all := map[string]string{}
	var walk func(n *yaml.Node, path string)
	walk = func(n *yaml.Node, path string) {
		if path != "" {
			all[path] = onOneLine(n)
		}
		switch n.Kind {
		case yaml.SequenceNode:
			for i, item := range n.Content {
				walk(item, fmt.Sprintf("%s[%d]", path, i+1))
			}
		case yaml.MappingNode:
			for i := 0; i+1 < len(n.Content); i += 2 {
				if path != "" || !slices.Contains(commentary, n.Content[i].Value) {
					walk(n.Content[i+1], strings.TrimPrefix(path+"."+n.Content[i].Value, "."))
				}
			}
		}
	}
	walk(v.root, "")
	return all
}

// onOneLine returns a value as YAML on one line.
func onOneLine(n *yaml.Node) string {
	one := copyNode(n)
	var flow func(n *yaml.Node)
	flow = func(n *yaml.Node) {
		if n.Style = yaml.FlowStyle; n.Kind == yaml.ScalarNode {
			n.Style = 0
		}
		for _, child := range n.Content {
			flow(child)
		}
	}
	flow(one)
	var b bytes.Buffer
	if err := yaml.NewEncoder(&b).Encode(one); err != nil {
		panic(err)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
