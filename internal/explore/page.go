package explore

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/locksim/locksim/scenarios"
)

// width is how long a line of prose is at most in a scenario file, in columns, and
// flowWidth how long one of settings.
const (
	width     = 80
	flowWidth = 120
)

// fieldOrder is that of a scenario file.
var fieldOrder = []string{
	"title", "assumption", "story", "why", "lock", "nodes", "clients", "services", "tokens", "storage", "network",
	"faults", "horizon", "progress-within", "witnesses", "expect", "lesson",
}

// A page is a scenario file as people write it: prose folded, the settings of each
// process on a line, each fault field by field.
type page struct {
	root     *yaml.Node
	comments []string
	b        bytes.Buffer
}

// newPage takes the fields of a document over.
func newPage(doc *scenarios.Document) (*page, error) {
	var file yaml.Node
	if err := yaml.Unmarshal(doc.Bytes(), &file); err != nil {
		return nil, err
	}
	return &page{root: file.Content[0]}, nil
}

// comment adds a line to the top of the file.
func (p *page) comment(format string, args ...any) {
	p.comments = append(p.comments, fmt.Sprintf(format, args...))
}

// set gives a field of the file a value.
func (p *page) set(name string, value *yaml.Node) {
	for i := 0; i < len(p.root.Content); i += 2 {
		if p.root.Content[i].Value == name {
			p.root.Content[i+1] = value
			return
		}
	}
	p.root.Content = append(p.root.Content, stringNode(name), value)
}

// stringNode is a string as YAML has it. One that older YAML takes for something else
// is quoted.
func stringNode(s string) *yaml.Node {
	n := &yaml.Node{}
	if err := n.Encode(s); err != nil {
		panic("explore: a text cannot be written: " + err.Error()) // all are UTF-8
	}
	return n
}

// listNode is a list of strings.
func listNode(all []string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	for _, s := range all {
		n.Content = append(n.Content, stringNode(s))
	}
	return n
}

// write is the text of the file, with its checksum below the comments.
func (p *page) write() []byte {
	for _, c := range p.comments {
		for line := range strings.Lines(wrap(c, width-2)) {
			fmt.Fprintf(&p.b, "# %s\n", strings.TrimSuffix(line, "\n"))
		}
	}
	comments := p.b.Len()
	for _, name := range fieldOrder {
		for i := 0; i < len(p.root.Content); i += 2 {
			if p.root.Content[i].Value == name {
				p.field(name, p.root.Content[i+1])
			}
		}
	}
	text := p.b.Bytes()
	return slices.Concat(text[:comments], checksumOf(text), text[comments:])
}

// checksumOf is the line with the checksum of a file, which is not counted itself.
func checksumOf(text []byte) []byte {
	return []byte("# Checksum " + hashOf(text) + ": locksim explore replaces only what it has written.\n")
}

// Wrote says whether a scenario file is byte for byte what a search has written: its
// comments end with the checksum of the rest.
func Wrote(file []byte) bool {
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

// field writes one field of the file.
func (p *page) field(name string, value *yaml.Node) {
	switch name {
	case "story", "lesson":
		fmt.Fprintf(&p.b, "%s: >\n", name)
		for line := range strings.Lines(wrap(value.Value, width-2)) {
			fmt.Fprintf(&p.b, "  %s\n", strings.TrimSuffix(line, "\n"))
		}
	case "faults":
		fmt.Fprintf(&p.b, "%s:\n", name)
		for _, fault := range value.Content {
			p.item(fault)
		}
	case "witnesses":
		fmt.Fprintf(&p.b, "%s:\n", name)
		for _, witness := range value.Content {
			fmt.Fprintf(&p.b, "  - %s\n", flow(witness))
		}
	case "nodes", "clients", "services":
		fmt.Fprintf(&p.b, "%s:\n", name)
		p.entries(value, "  ")
	case "expect":
		fmt.Fprintf(&p.b, "%s:\n", name)
		for i := 0; i < len(value.Content); i += 2 {
			fmt.Fprintf(&p.b, "  %s:\n", value.Content[i].Value) // off and on, as every scenario has them
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
		fmt.Fprintf(&p.b, "%s%s: %s\n", before, flow(mapping.Content[i]), flow(mapping.Content[i+1]))
		before = "    "
	}
}

// entries writes a mapping, each entry on a line if it fits.
func (p *page) entries(mapping *yaml.Node, indent string) {
	for i := 0; i < len(mapping.Content); i += 2 {
		p.entry(flow(mapping.Content[i]), mapping.Content[i+1], indent)
	}
}

func (p *page) entry(name string, value *yaml.Node, indent string) {
	line := fmt.Sprintf("%s%s: %s", indent, name, flow(value))
	if value.Kind != yaml.MappingNode || len(value.Content) == 0 || utf8.RuneCountInString(line) <= flowWidth {
		fmt.Fprintln(&p.b, line)
		return
	}
	fmt.Fprintf(&p.b, "%s%s:\n", indent, name)
	p.entries(value, indent+"  ")
}

// flow is a value in one line.
func flow(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode {
		return scalar(n, encoded)
	}
	within := func(n *yaml.Node) string {
		list := encoded(&yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle, Content: []*yaml.Node{n}})
		return list[1 : len(list)-1]
	}
	var parts []string
	for i := 0; i < len(n.Content); i++ {
		part := n.Content[i]
		text := flow(part)
		if part.Kind == yaml.ScalarNode {
			text = scalar(part, within)
		}
		if n.Kind == yaml.MappingNode && i%2 == 1 {
			parts[len(parts)-1] += ": " + text
		} else {
			parts = append(parts, text)
		}
	}
	if n.Kind == yaml.MappingNode {
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// scalar is a plain value, in double quotes rather than in single ones if these would
// have to be doubled in it.
func scalar(n *yaml.Node, write func(*yaml.Node) string) string {
	c := *n
	const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle
	if c.Style &= quoted; c.Tag == "!!str" {
		c.Style |= stringNode(c.Value).Style & quoted
	}
	s := write(&c)
	if strings.HasPrefix(s, "'") && strings.Contains(c.Value, "'") {
		c.Style = yaml.DoubleQuotedStyle
		s = write(&c)
	}
	return s
}

// encoded is a value as the YAML library writes it.
func encoded(n *yaml.Node) string {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	if err := e.Encode(n); err != nil {
		panic("explore: a value of a scenario cannot be written: " + err.Error()) // it was read, or made here
	}
	e.Close()
	return string(bytes.TrimSpace(b.Bytes()))
}

// wrap breaks s between words into lines of at most some columns.
func wrap(s string, columns int) string {
	var b strings.Builder
	col := 0
	for i, word := range strings.Fields(s) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case col+1+n > columns:
			b.WriteByte('\n')
			col = 0
		default:
			b.WriteByte(' ')
			col++
		}
		b.WriteString(word)
		col += n
	}
	return b.String()
}
