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

// width is the length of a line of prose in a scenario file, in columns, and flowWidth the
// length of a line of settings. Longer lines are broken.
const (
	width     = 80
	flowWidth = 120
)

// fieldOrder is the order of the fields in a scenario file.
var fieldOrder = []string{
	"title", "assumption", "story", "why", "lock", "nodes", "clients", "services", "tokens", "storage", "network",
	"faults", "horizon", "progress-within", "witnesses", "expect", "lesson",
}

// A scenarioText is the text of a scenario file in the layout that people use: prose is wrapped,
// the settings of each process are on one line, and each fault has one line for each field.
type scenarioText struct{ bytes.Buffer }

// writePage returns the text of a scenario file. The file begins with the comments and,
// below them, its checksum.
func writePage(doc *scenarios.Document, comments []string) ([]byte, error) {
	var file yaml.Node
	if err := yaml.Unmarshal(doc.Bytes(), &file); err != nil {
		return nil, err
	}
	fields, p := file.Content[0].Content, new(scenarioText)
	for _, c := range comments {
		p.writeProse("# ", c)
	}
	commentsLength := p.Len()
	for _, name := range fieldOrder {
		for i := 0; i < len(fields); i += 2 {
			if fields[i].Value == name {
				p.writeField(name, fields[i+1])
			}
		}
	}
	text := p.Bytes()
	return slices.Concat(text[:commentsLength], checksumOf(text), text[commentsLength:]), nil
}

// stringNode returns a text as a YAML node. The text is quoted if older versions of YAML
// would read it as another type, such as a number.
func stringNode(s string) *yaml.Node {
	n := &yaml.Node{}
	if err := n.Encode(s); err != nil {
		panic("explore: cannot write a text as YAML: " + err.Error()) // all strings are UTF-8
	}
	return n
}

// checksumOf returns the comment line with the checksum of a file. The checksum does not
// cover this line itself.
func checksumOf(text []byte) []byte {
	return []byte("# " + story.Checksum(hashOf(text)) + "\n")
}

// IsUnedited reports whether a scenario file is exactly as a search wrote it. A search ends
// the file's comments with the checksum of all the rest.
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

// writeProse writes a text in lines that each begin with a prefix of two columns.
func (p *scenarioText) writeProse(prefix, words string) {
	for line := range strings.Lines(textwrap.Wrap(words, width-2, 0)) {
		fmt.Fprintf(p, "%s%s\n", prefix, strings.TrimSuffix(line, "\n"))
	}
}

// writeField writes one field of the file, in the layout for that field.
func (p *scenarioText) writeField(name string, value *yaml.Node) {
	switch name {
	case "story", "lesson":
		fmt.Fprintf(p, "%s: >\n", name)
		p.writeProse("  ", value.Value)
	case "faults":
		fmt.Fprintf(p, "%s:\n", name)
		for _, fault := range value.Content {
			p.writeItem(fault)
		}
	case "witnesses":
		fmt.Fprintf(p, "%s:\n", name)
		for _, witness := range value.Content {
			fmt.Fprintf(p, "  - %s\n", onOneLine(witness))
		}
	case "nodes", "clients", "services":
		fmt.Fprintf(p, "%s:\n", name)
		p.writeEntries(value, "  ")
	case "expect":
		fmt.Fprintf(p, "%s:\n", name)
		for i := 0; i < len(value.Content); i += 2 {
			fmt.Fprintf(p, "  %s:\n", value.Content[i].Value) // off and on, as in every scenario
			p.writeEntries(value.Content[i+1], "    ")
		}
	default:
		p.writeEntry(name, value, "")
	}
}

// writeItem writes an item of a list, one line for each field.
func (p *scenarioText) writeItem(mapping *yaml.Node) {
	indent := "  - "
	for i := 0; i < len(mapping.Content); i += 2 {
		fmt.Fprintf(p, "%s%s: %s\n", indent, onOneLine(mapping.Content[i]), onOneLine(mapping.Content[i+1]))
		indent = "    "
	}
}

// writeEntries writes a mapping, each entry on one line if it fits.
func (p *scenarioText) writeEntries(mapping *yaml.Node, indent string) {
	for i := 0; i < len(mapping.Content); i += 2 {
		p.writeEntry(onOneLine(mapping.Content[i]), mapping.Content[i+1], indent)
	}
}

// writeEntry writes one entry of a mapping, on one line or, if it is too long, on several.
func (p *scenarioText) writeEntry(name string, value *yaml.Node, indent string) {
	line := fmt.Sprintf("%s%s: %s", indent, name, onOneLine(value))
	if value.Kind != yaml.MappingNode || len(value.Content) == 0 || utf8.RuneCountInString(line) <= flowWidth {
		fmt.Fprintln(p, line)
		return
	}
	fmt.Fprintf(p, "%s%s:\n", indent, name)
	p.writeEntries(value, indent+"  ")
}

// onOneLine returns a value as YAML on one line.
func onOneLine(n *yaml.Node) string { return encoded(flowNode(n, n.Kind != yaml.ScalarNode)) }

// flowNode returns a value in YAML's style for one line. isNested means that it is part of
// another value. A text gets double quotes if single quotes would have to be doubled in it.
func flowNode(n *yaml.Node, isNested bool) *yaml.Node {
	c := *n
	if c.Kind != yaml.ScalarNode {
		c.Style, c.Content = yaml.FlowStyle, nil
		for _, part := range n.Content {
			c.Content = append(c.Content, flowNode(part, true))
		}
		return &c
	}
	const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle
	if c.Style &= quoted; c.Tag == "!!str" {
		c.Style |= stringNode(c.Value).Style & quoted
	}
	sample := &c
	if isNested {
		sample = &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle, Content: []*yaml.Node{&c}}
	}
	if strings.HasPrefix(strings.TrimPrefix(encoded(sample), "["), "'") && strings.Contains(c.Value, "'") {
		c.Style = yaml.DoubleQuotedStyle
	}
	return &c
}

// encoded returns a value as the YAML library writes it.
func encoded(n *yaml.Node) string {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	if err := e.Encode(n); err != nil {
		panic("explore: cannot write a value of a scenario as YAML: " + err.Error()) // the value was read from YAML, or made in this file
	}
	e.Close()
	return string(bytes.TrimSpace(b.Bytes()))
}
