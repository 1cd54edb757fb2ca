package scenarios

import (
	"bytes"
	"fmt"

	"gopkg.in/yaml.v3"

	"github.com/locksim/locksim/sim"
)

// Fields are a mapping of a scenario file, in the order in which it is written. A
// value is a string, a number, a list of strings, or Fields or a list of them.
type Fields []Field

// A Field is one entry of a mapping.
type Field struct {
	Name  string
	Value any
}

// node is the mapping as YAML has it.
func (f Fields) node() *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, field := range f {
		n.Content = append(n.Content, valueNode(field.Name), valueNode(field.Value))
	}
	return n
}

// valueNode is a value as YAML has it. One that YAML cannot hold panics: only
// this program makes them.
func valueNode(value any) *yaml.Node {
	switch value := value.(type) {
	case Fields:
		return value.node()
	case []Fields:
		list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, f := range value {
			list.Content = append(list.Content, f.node())
		}
		return list
	}
	n := &yaml.Node{}
	if err := n.Encode(value); err != nil {
		panic(fmt.Sprintf("scenarios: %v cannot be a value of a scenario: %v", value, err))
	}
	return n
}

// Document is the mapping as a scenario file.
func (f Fields) Document() []byte { return (&Document{f.node()}).Bytes() }

// String is the mapping in one line.
func (f Fields) String() string {
	n := f.node()
	n.Style = yaml.FlowStyle
	for _, value := range n.Content {
		value.Style |= yaml.FlowStyle
	}
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	if err := e.Encode(n); err != nil {
		panic("scenarios: a mapping cannot be written: " + err.Error()) // it was made by node
	}
	e.Close()
	return string(bytes.TrimSpace(b.Bytes()))
}

// Fault reads one item of a scenario's list of faults, as [Parse] would. Whether it
// fits a world is for [sim.Run] to say.
func (f Fields) Fault() (sim.Fault, error) {
	t := read("fault", []byte(f.String()))
	if len(t.errs) > 0 {
		return sim.Fault{}, t.errs.tidied()
	}
	d := &decoder{tree: t, nodes: map[string]*yaml.Node{"": t.root}}
	var own fault
	if own.decode(d, t.root, ""); len(t.errs) > 0 {
		return sim.Fault{}, t.errs.tidied()
	}
	return own.sim(), nil
}
