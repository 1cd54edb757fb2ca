package scenarios

import (
	"bytes"
	"strings"

	"gopkg.in/yaml.v3"
)

// A Document is a scenario without variants as YAML, so that a program can change it and
// write it.
type Document struct{ root *yaml.Node }

// Document returns the variant as a scenario of its own, without the comments of its file. If
// overrides have changed the variant, the document says that it is unscripted, so that its runs
// are judged like those of the variant. Changing the document does not change the variant.
func (v *Variant) Document() *Document {
	d := &Document{copyNode(v.root)}
	for _, c := range v.changes {
		c.write(d)
	}
	if len(v.overrides) > 0 {
		d.Set("unscripted", true)
	}
	return d
}

// copyNode returns a deep copy of a value, in block style and without comments.
func copyNode(n *yaml.Node) *yaml.Node {
	c := *n
	c.HeadComment, c.LineComment, c.FootComment = "", "", ""
	c.Content = make([]*yaml.Node, len(n.Content))
	for i, child := range n.Content {
		c.Content[i] = copyNode(child)
	}
	return &c
}

// Set sets a field to a value: a string, a number, a list of strings, [Fields] or a list of
// Fields. path consists of the names of mappings and of the field, with dots between them.
// Set creates the mappings that do not exist.
func (d *Document) Set(path string, value any) {
	n := d.root
	names := strings.Split(path, ".")
	for _, name := range names[:len(names)-1] {
		at := indexOf(n, name)
		if at < 0 {
			n.Content = append(n.Content, valueNode(name), Fields{}.node())
			at = len(n.Content) - 2
		}
		n = n.Content[at+1]
	}
	last := names[len(names)-1]
	if at := indexOf(n, last); at >= 0 {
		n.Content[at+1] = valueNode(value)
		return
	}
	n.Content = append(n.Content, valueNode(last), valueNode(value))
}

// Delete removes a field, if it exists.
func (d *Document) Delete(path string) {
	n := d.root
	names := strings.Split(path, ".")
	for i, name := range names {
		at := indexOf(n, name)
		switch {
		case at < 0:
			return
		case i == len(names)-1:
			n.Content = append(n.Content[:at:at], n.Content[at+2:]...)
		default:
			n = n.Content[at+1]
		}
	}
}

// names returns the keys of a mapping in order; field is the name of the top-level field
// with the mapping.
func (d *Document) names(field string) []string {
	at := indexOf(d.root, field)
	if at < 0 {
		return nil
	}
	var names []string
	for entries := d.root.Content[at+1].Content; len(entries) > 1; entries = entries[2:] {
		names = append(names, entries[0].Value)
	}
	return names
}

// Bytes returns the text of the document.
func (d *Document) Bytes() []byte {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(d.root); err != nil {
		panic("scenarios: a document cannot be written: " + err.Error()) // impossible: it was read, or made by valueNode
	}
	e.Close()
	return b.Bytes()
}

// FaultLine returns the first fault of the given kind in the variant, on one line and as a file
// has it; "" if there is none.
func (v *Variant) FaultLine(kind string) string {
	at := indexOf(v.root, "faults")
	if at < 0 {
		return ""
	}
	for _, fault := range v.root.Content[at+1].Content {
		if k, ok := faultKindIn(fault); ok && k.Name == kind {
			line := copyNode(fault)
			line.Style = yaml.FlowStyle
			return strings.TrimSpace(string((&Document{line}).Bytes()))
		}
	}
	return ""
}
