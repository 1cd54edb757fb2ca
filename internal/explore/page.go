package explore

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/textwrap"
	"github.com/locksim/locksim/scenarios"
)

// width is the longest line of prose in a scenario file, in columns, and flowWidth the
// longest line of settings.
const (
	width     = 80
	flowWidth = 120
)

// fieldOrder is the order of the fields in a scenario file.
var fieldOrder = []string{
	"title", "assumption", "story", "why", "lock", "nodes", "clients", "services", "tokens", "storage", "network",
	"faults", "horizon", "progress-within", "witnesses", "expect", "lesson",
}

// A page is a scenario file in the layout that people use: prose is folded, the settings of
// each process are on one line, and each fault has one line for each field.
type page struct{ bytes.Buffer }

// writePage returns the text of a scenario file, with its checksum below the comments.
func writePage(doc *scenarios.Document, comments []string) ([]byte, error) {
	var file yaml.Node
	if err := yaml.Unmarshal(doc.Bytes(), &file); err != nil {
		return nil, err
	}
	fields, p := file.Content[0].Content, new(page)
	for _, c := range comments {
		p.prose("# ", c)
	}
	begins := p.Len()
	for _, name := range fieldOrder {
		for i := 0; i < len(fields); i += 2 {
			if fields[i].Value == name {
				p.field(name, fields[i+1])
			}
		}
	}
	text := p.Bytes()
	return slices.Concat(text[:begins], checksumOf(text), text[begins:]), nil
}

// stringNode returns a string as a YAML node. It is quoted if older YAML versions would
// read it as another type.
func stringNode(s string) *yaml.Node {
	n := &yaml.Node{}
	if err := n.Encode(s); err != nil {
		panic("explore: cannot write a text as YAML: " + err.Error()) // all strings are UTF-8
	}
	return n
}

// checksumOf returns the line with the checksum of a file. The checksum does not cover this
// line.
func checksumOf(text []byte) []byte {
	return []byte("# " + story.Checksum(hashOf(text)) + "\n")
}

// IsUnedited reports whether a scenario file is byte for byte as a search wrote it: its
// comments end with the checksum of the rest.
func IsUnedited(file []byte) bool {
	comments := 0
	var last []byte
	for line := range bytes.Lines(file) {
		if !bytes.HasPrefix(line, []byte("#")) {
			break
		}
		comments, last = comments+len(line), line
	}
	text := slices.Concat(file[:comments-len(last)], file[comments:])
	return len(last) > 0 && bytes.Equal(last, checksumOf(text))
}

// prose writes a text in lines that begin with a prefix of two columns.
func (p *page) prose(prefix, words string) {
	for line := range strings.Lines(textwrap.Wrap(words, width-2, 0)) {
		fmt.Fprintf(p, "%s%s\n", prefix, strings.TrimSuffix(line, "\n"))
	}
}

// field writes one field of the file.
func (p *page) field(name string, value *yaml.Node) {
	switch name {
	case "story", "lesson":
		fmt.Fprintf(p, "%s: >\n", name)
		p.prose("  ", value.Value)
	case "faults":
		fmt.Fprintf(p, "%s:\n", name)
		for _, fault := range value.Content {
			p.item(fault)
		}
	case "witnesses":
		fmt.Fprintf(p, "%s:\n", name)
		for _, witness := range value.Content {
			fmt.Fprintf(p, "  - %s\n", flow(witness))
		}
	case "nodes", "clients", "services":
		fmt.Fprintf(p, "%s:\n", name)
		p.entries(value, "  ")
	case "expect":
		fmt.Fprintf(p, "%s:\n", name)
		for i := 0; i < len(value.Content); i += 2 {
			fmt.Fprintf(p, "  %s:\n", value.Content[i].Value) // off and on, as in every scenario
			p.entries(value.Content[i+1], "    ")
		}
	default:
		p.entry(name, value, "")
	}
}

// item writes an item of a list, field by field.
func (p *page) item(mapping *yaml.Node) {
	before := "  - "
	for i := 0; i < len(mapping.Content); i += 2 {
		fmt.Fprintf(p, "%s%s: %s\n", before, flow(mapping.Content[i]), flow(mapping.Content[i+1]))
		before = "    "
	}
}

// entries writes a mapping, each entry on one line if it fits.
func (p *page) entries(mapping *yaml.Node, indent string) {
	for i := 0; i < len(mapping.Content); i += 2 {
		p.entry(flow(mapping.Content[i]), mapping.Content[i+1], indent)
	}
}

func (p *page) entry(name string, value *yaml.Node, indent string) {
	line := fmt.Sprintf("%s%s: %s", indent, name, flow(value))
	if value.Kind != yaml.MappingNode || len(value.Content) == 0 || utf8.RuneCountInString(line) <= flowWidth {
		fmt.Fprintln(p, line)
		return
	}
	fmt.Fprintf(p, "%s%s:\n", indent, name)
	p.entries(value, indent+"  ")
}

// flow returns a value on one line.
func flow(n *yaml.Node) string { return encoded(inFlow(n, n.Kind != yaml.ScalarNode)) }

// inFlow returns a value in the style for one line. within reports whether it is part of
// another value. A text is in double quotes if single quotes would have to be doubled in
// it.
func inFlow(n *yaml.Node, within bool) *yaml.Node {
	c := *n
	if c.Kind != yaml.ScalarNode {
		c.Style, c.Content = yaml.FlowStyle, nil
		for _, part := range n.Content {
			c.Content = append(c.Content, inFlow(part, true))
		}
		return &c
	}
	const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle
	if c.Style &= quoted; c.Tag == "!!str" {
		c.Style |= stringNode(c.Value).Style & quoted
	}
	alone := &c
	if within {
		alone = &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle, Content: []*yaml.Node{&c}}
	}
	if strings.HasPrefix(strings.TrimPrefix(encoded(alone), "["), "'") && strings.Contains(c.Value, "'") {
		c.Style = yaml.DoubleQuotedStyle
	}
	return &c
}

// encoded returns a value as the YAML library writes it.
func encoded(n *yaml.Node) string {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	if err := e.Encode(n); err != nil {
		panic("explore: cannot write a value of a scenario as YAML: " + err.Error()) // it was read from YAML, or made here
	}
	e.Close()
	return string(bytes.TrimSpace(b.Bytes()))
}
