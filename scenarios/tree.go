package scenarios

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/locksim/locksim/internal/lazy"
)

// MaxSize is the largest size of a scenario file, in bytes. The largest scenarios of the
// catalogue have a few thousand bytes.
const MaxSize = 1 << 20

const maxDepth = 16 // levels of nesting

// A tree is a scenario file parsed as YAML, without the meaning of its fields.
type tree struct {
	file string
	root *yaml.Node
	// paths maps each value to its path in the file, such as "clients.client-1". A node that
	// merging a variant has made has the path of the file's own node.
	paths map[*yaml.Node]string
	// overridden maps the values that are not from the file to the overrides that set them.
	overridden map[*yaml.Node]override
	// errs are the problems that were recorded; found is the number of all problems.
	errs  Errors
	found int
	// suggestions remembers the results of suggest.
	suggestions map[misspelling]suggestion
}

// parseTree parses the YAML of a file. It accepts only plain mappings, lists and scalars,
// and refuses everything else in YAML that could make a scenario mean something else than
// it seems to say.
func parseTree(file string, data []byte) *tree {
	t := &tree{file: file, paths: map[*yaml.Node]string{}, overridden: map[*yaml.Node]override{}, suggestions: map[misspelling]suggestion{}}
	if !t.isText(data) {
		return t
	}
	root, err := decodeYAML(data)
	if err != nil {
		t.errs = append(t.errs, t.syntaxError(data, err))
		return t
	}
	if t.checkNode(root, "", 1); len(t.errs) > 0 {
		return t
	}
	if root.Kind != yaml.MappingNode {
		t.report(root, "", "a scenario is a mapping of fields, but this is %s", "it begins with title:", describeNode(root))
		return t
	}
	t.root = root
	t.expandClientRanges(root)
	return t
}

// report records a problem of the value n. If path is not empty, it replaces the path of n. message
// is a format, and args are its arguments; hint is plain text. Once maxRecorded problems have been
// recorded, report only counts.
func (t *tree) report(n *yaml.Node, path, message, hint string, args ...any) *Error {
	if path == "" {
		path = t.paths[n]
	}
	e := &Error{File: t.file, Line: n.Line, Column: n.Column, Path: path,
		Message: fmt.Sprintf(message, args...), Hint: hint}
	if o, ok := t.overridden[n]; ok {
		e.File, e.Line, e.Column = o.source(), 0, 0
		if path == o.path || e.Path == o.path {
			e.Path = "" // the name of the override contains the path
		}
	}
	if t.found++; t.found <= maxRecorded {
		t.errs = append(t.errs, e)
	}
	return e
}

// isText reports whether data is UTF-8 text of a valid size without control characters,
// which the YAML parser needs. If not, isText records the problem.
func (t *tree) isText(data []byte) bool {
	fail := func(line int, message, hint string, args ...any) bool {
		t.errs = append(t.errs, &Error{File: t.file, Line: line, Message: fmt.Sprintf(message, args...), Hint: hint})
		return false
	}
	if len(data) > MaxSize {
		return fail(0, "the file has %d bytes, and a scenario has at most %d", "is this the right file?", len(data), MaxSize)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return fail(0, "the file is empty", "a scenario begins with title:")
	}
	line := 1
	for rest := data; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		switch {
		case r == utf8.RuneError && size == 1:
			return fail(line, "this is not UTF-8 text", "is this the right file?")
		case r == '\n':
			line++
		case r != '\t' && r != '\r' && unicode.IsControl(r):
			return fail(line, "there is a control character (%U) in the text", "is this the right file?", r)
		}
		rest = rest[size:]
	}
	return true
}

// secondDocument is the error that a file contains a second document; its value is the line
// on which that document begins.
type secondDocument int

func (secondDocument) Error() string { return "a second document begins here" }

// decodeYAML parses a file that contains one document. The error for an empty file is
// io.EOF.
func decodeYAML(data []byte) (root *yaml.Node, err error) {
	// The parser is a library and may panic, and no file may crash the program.
	defer func() {
		if p := recover(); p != nil {
			root, err = nil, fmt.Errorf("yaml: the parser gave up: %v", p)
		}
	}()
	d := yaml.NewDecoder(bytes.NewReader(data))
	var doc, next yaml.Node
	if err := d.Decode(&doc); err != nil {
		return nil, err
	}
	switch err := d.Decode(&next); {
	case err == nil:
		return nil, secondDocument(next.Line)
	case !errors.Is(err, io.EOF):
		return nil, err
	}
	return doc.Content[0], nil
}

// syntaxError turns an error of the YAML parser into an [Error].
func (t *tree) syntaxError(data []byte, err error) *Error {
	e := &Error{File: t.file}
	var second secondDocument
	switch {
	case errors.Is(err, io.EOF):
		e.Message, e.Hint = "the file contains only comments", "a scenario begins with title:"
	case errors.As(err, &second):
		e.Line, e.Message, e.Hint = int(second), "a second document begins here, and a scenario file contains one", "give each scenario its own file"
	default:
		var message string
		e.Line, message = locate(data, err)
		e.Message, e.Hint = explainSyntax(message, isIndentedByTab(data, e.Line))
		e.Message = "this is not YAML: " + e.Message
	}
	return e
}

// yamlError matches the text of the parser's errors.
var yamlError = lazy.Regexp(`^yaml: (?:line (\d+): )?(?s:(.*))$`)

// locate returns the line and the message of an error of the YAML parser.
func locate(data []byte, err error) (line int, message string) {
	// For an error inside a block the parser gives the line on which the block begins,
	// unless that is the first line of the file. Therefore parse again without the leading
	// comments: then the outermost block begins in the first line.
	skipped := leadingComments(data)
	if _, innerErr := decodeYAML(fromLine(data, skipped+1)); innerErr != nil {
		err = innerErr
	} else {
		skipped = 0
	}
	m := yamlError().FindStringSubmatch(err.Error())
	if m == nil {
		return skipped + 1, err.Error()
	}
	line, message = 1, m[2]
	if n, err := strconv.Atoi(m[1]); err == nil {
		line = n
	}
	if isGrammarError(message) {
		line++ // these errors count lines from 0
	}
	return skipped + line, message
}

// explainSyntax returns a message of the YAML parser in plain words, and a hint. byTab says
// that a tab indents the line.
func explainSyntax(message string, byTab bool) (plain, hint string) {
	switch {
	case byTab, strings.Contains(message, "tab character"):
		return "a tab in the indentation", "YAML is indented with spaces"
	case strings.Contains(message, "cannot start any token"):
		return "a value cannot begin like this", "put text that begins with a special character in quotes"
	case strings.Contains(message, "mapping values are not allowed"):
		return `a ": " in the middle of a value`, "put the value in quotes, or check the indentation"
	case strings.HasPrefix(message, "unknown anchor"):
		return "an alias, and scenario files have none", "write the value out"
	case strings.Contains(message, "max depth"):
		return "nested too deeply", "is this the right file?"
	case strings.HasPrefix(message, "did not find expected"):
		return message, "check the indentation, and that quotes and brackets are closed"
	}
	return message, ""
}

// isGrammarError reports whether a message comes from the parser's grammar, which counts
// lines from 0. Other messages come from its scanner, which counts from 1.
func isGrammarError(message string) bool {
	for _, what := range []string{"key", "'-' indicator", "',' or ']'", "',' or '}'", "node content", "<document start>", "<stream-start>"} {
		if message == "did not find expected "+what {
			return true
		}
	}
	return false
}

// isIndentedByTab reports whether there is a tab in a line's indentation.
func isIndentedByTab(data []byte, line int) bool {
	text := bytes.TrimLeft(fromLine(data, line), " ")
	return len(text) > 0 && text[0] == '\t'
}

// leadingComments counts the lines at the top of a file that are comments or empty.
func leadingComments(data []byte) int {
	n := 0
	for line := range bytes.Lines(data) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			break
		}
		n++
	}
	return n
}

// fromLine returns the part of data that begins at a line, counted from 1.
func fromLine(data []byte, line int) []byte {
	for ; line > 1; line-- {
		i := bytes.IndexByte(data, '\n')
		if i < 0 {
			return nil
		}
		data = data[i+1:]
	}
	return data
}

// checkNode reports features of YAML that scenario files must not use, and records the path
// of each value below n.
func (t *tree) checkNode(n *yaml.Node, path string, depth int) {
	t.paths[n] = path
	switch {
	case depth > maxDepth:
		t.report(n, "", "nested more than %d levels deep", "is this the right file?", maxDepth)
		return
	case n.Kind == yaml.AliasNode:
		t.report(n, "", "an alias (*%s), and scenario files have none", "write the value out", n.Value)
		return
	case n.Anchor != "":
		t.report(n, "", "an anchor (&%s), and scenario files have none", "write the value out where it is needed", n.Anchor)
	case n.Tag == "!!merge":
		t.report(n, "", "a merge key (<<), and scenario files have none", "write the fields out")
	case n.Style&yaml.TaggedStyle != 0 || !isPlainTag(n.Tag):
		t.report(n, "", "a tag (%s), and scenario files have none", "leave the tag out", n.Tag)
	}
	switch n.Kind {
	case yaml.SequenceNode:
		for i, item := range n.Content {
			t.checkNode(item, fmt.Sprintf("%s[%d]", path, i+1), depth+1)
		}
	case yaml.MappingNode:
		first := map[string]*yaml.Node{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			if key.Kind != yaml.ScalarNode {
				t.report(key, path, "a field's name must be a single word", "")
				continue
			}
			at := joinPath(path, key.Value)
			t.checkNode(key, at, depth)
			if dup := first[key.Value]; dup != nil {
				t.report(key, at, "the field appears twice", fmt.Sprintf("the first is on line %d", dup.Line))
				continue
			}
			first[key.Value] = key
			t.checkNode(value, at, depth+1)
		}
	}
}

// isPlainTag reports whether YAML itself gives this tag to values that are written without
// a tag.
func isPlainTag(tag string) bool {
	switch tag {
	case "!!map", "!!seq", "!!str", "!!int", "!!float", "!!bool", "!!null", "!!timestamp":
		return true
	}
	return false
}

// joinPath returns the path of a field in the mapping at path.
func joinPath(path, field string) string {
	const most = 60
	if len(field) > most {
		field = strings.ToValidUTF8(field[:most], "") + "…"
	}
	if path == "" {
		return field
	}
	return path + "." + field
}

// mergeVariant merges a variant into the file. Mappings are merged key by key, and everything else
// is replaced. The nodes keep their lines, so that errors show the right one. mergeVariant adds the
// paths of the nodes that it makes to paths.
func mergeVariant(base, variant *yaml.Node, paths map[*yaml.Node]string) *yaml.Node {
	if base.Kind != yaml.MappingNode || variant.Kind != yaml.MappingNode {
		return variant
	}
	merged := *base
	merged.Content = append([]*yaml.Node(nil), base.Content...)
	paths[&merged] = paths[base]
	places := make(map[string]int, len(base.Content)/2)
	for i := 0; i+1 < len(base.Content); i += 2 {
		places[base.Content[i].Value] = i
	}
	for i := 0; i+1 < len(variant.Content); i += 2 {
		key, value := variant.Content[i], variant.Content[i+1]
		if at, ok := places[key.Value]; ok {
			merged.Content[at] = key
			merged.Content[at+1] = mergeVariant(merged.Content[at+1], value, paths)
		} else {
			merged.Content = append(merged.Content, key, value)
		}
	}
	return &merged
}

// indexOf returns the index of a key in the content of a mapping, or -1. The value follows
// at the next index.
func indexOf(mapping *yaml.Node, key string) int {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return i
		}
	}
	return -1
}

// removeKey returns a copy of a mapping without one key, and the value of that key, or nil
// if there is none.
func removeKey(mapping *yaml.Node, key string) (rest, value *yaml.Node) {
	at := indexOf(mapping, key)
	if at < 0 {
		return mapping, nil
	}
	shortened := *mapping
	shortened.Content = append(append([]*yaml.Node(nil), mapping.Content[:at]...), mapping.Content[at+2:]...)
	return &shortened, mapping.Content[at+1]
}

// describeNode says what sort of value n is, for a message.
func describeNode(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Tag == "!!null":
		return "empty"
	case n.Tag == "!!int" || n.Tag == "!!float":
		return "the number " + quote(n.Value)
	case n.Tag == "!!bool":
		return "the truth value " + quote(n.Value)
	}
	return "the text " + quote(n.Value)
}
