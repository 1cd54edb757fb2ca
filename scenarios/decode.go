package scenarios

import (
	"encoding"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/locksim/locksim/internal/lazy"
)

const maxText = 10_000 // bytes of any text

// A decoder fills Go values from a tree. It is strict: it reports each field that it does
// not know and each value that it cannot read, with the line, and then continues.
type decoder struct {
	*tree
	// nodes maps each path of the tree, with the variant merged in, to the node that was
	// written there: to the key of a field, or to the value itself if it has no key.
	nodes map[string]*yaml.Node
	// hasUnread reports whether a list or mapping was left unread because it is too long.
	hasUnread bool
	// pendingHints are the errors about points and similar texts that could not be read.
	// The decoder can find what was meant only after it has read all names in the file.
	pendingHints []pendingHint
}

// A pendingHint is an error that may get a hint later: text, written at a node, is no value of the
// type textType, and reason says why.
type pendingHint struct {
	err      *Error
	at       *yaml.Node
	textType reflect.Type
	text     string
	reason   error
}

// A selfDecoder is a value that reads itself from a YAML node.
type selfDecoder interface {
	decode(d *decoder, n *yaml.Node, path string)
}

// namedSettings is a [mapping] whose settings have any type.
type namedSettings interface {
	clear()
	add(name string) any
}

// reportAt reports a problem at a path. If nothing was written there, it gives the line of
// the nearest value above it: the path without its last parts.
func (d *decoder) reportAt(path, message, hint string, args ...any) *Error {
	n, written := d.findWritten(path)
	problemPath := d.paths[n]
	if written != path {
		problemPath = path
	}
	return d.report(n, problemPath, message, hint, args...)
}

// findWritten returns the node at a path, and the path. If nothing was written there, it
// returns those of the nearest value above it.
func (d *decoder) findWritten(path string) (*yaml.Node, string) {
	for ; ; path = parent(path) {
		if n, ok := d.nodes[path]; ok {
			return n, path
		}
	}
}

// parent returns the path above a path.
func parent(path string) string {
	if i := strings.LastIndexAny(path, ".["); i >= 0 {
		return path[:i]
	}
	return ""
}

// decodeValue reads n into v, which must be settable.
func (d *decoder) decodeValue(n *yaml.Node, path string, v reflect.Value) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		d.report(n, "", "it is empty", "give it a value or leave it out; to keep all defaults, write {}")
		return
	}
	if c, ok := v.Addr().Interface().(selfDecoder); ok {
		c.decode(d, n, path)
		return
	}
	if m, ok := v.Addr().Interface().(namedSettings); ok {
		d.decodeMapping(n, path, m)
		return
	}
	if parse, ok := scalarParsers[v.Type()]; ok {
		d.decodeScalar(n, v, parse)
		return
	}
	if t, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		d.decodeScalar(n, v, func(s string) (any, error) {
			err := t.UnmarshalText([]byte(s))
			return v.Interface(), err
		})
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		p, before := reflect.New(v.Type().Elem()), d.found
		if d.decodeValue(n, path, p.Elem()); d.found == before {
			v.Set(p)
		}
	case reflect.Struct:
		d.decodeStructs(n, path, v)
	case reflect.Slice:
		d.decodeList(n, path, v)
	case reflect.String:
		d.decodeScalar(n, v, d.textParser(v))
	case reflect.Bool:
		if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" || n.Decode(v.Addr().Interface()) != nil {
			d.reportWrongType(n, "true or false")
		}
	case reflect.Int, reflect.Int64, reflect.Uint64:
		_, isWhole := new(big.Int).SetString(n.Value, 0)
		switch isInt := n.Kind == yaml.ScalarNode && n.Tag == "!!int"; {
		case isInt && n.Decode(v.Addr().Interface()) == nil:
		case n.Kind == yaml.ScalarNode && n.Tag != "!!str" && isWhole && strings.HasPrefix(n.Value, "-"):
			d.report(n, "", "the number %q is too small", "", n.Value)
		case n.Kind == yaml.ScalarNode && n.Tag != "!!str" && isWhole:
			d.report(n, "", "the number %q is too large", "", n.Value)
		default:
			d.reportWrongType(n, "a whole number")
		}
	default:
		panic("scenarios: no decoder for " + v.Type().String()) // a field of this package that no file can fill
	}
}

// textParser returns a parser for texts of the type of v. If the type is an enum, the
// parser accepts only its words.
func (d *decoder) textParser(v reflect.Value) func(string) (any, error) {
	return func(s string) (any, error) {
		out := reflect.New(v.Type()).Elem()
		out.SetString(s)
		if strings.TrimSpace(s) == "" {
			return nil, problem{"it is empty", "give it a value or leave it out"}
		}
		if e, ok := out.Interface().(enum); ok && !slices.Contains(e.words(), s) {
			return nil, problem{quote(s) + " is not known here", DidYouMean(s, e.words())}
		}
		return out.Interface(), nil
	}
}

// decodeScalar reads a value that is written as text.
func (d *decoder) decodeScalar(n *yaml.Node, v reflect.Value, parse func(string) (any, error)) {
	if n.Kind != yaml.ScalarNode {
		d.reportWrongType(n, "text")
		return
	}
	if len(n.Value) > maxText {
		d.report(n, "", "the text has %d bytes, and at most %d are allowed", "is this the right file?", len(n.Value), maxText)
		return
	}
	// Parsing comes before the check that the value is text: if a duration is written as a number,
	// the better error is that its unit is missing.
	x, err := parse(n.Value)
	if err == nil && n.Tag != "!!str" {
		err = problem{"expected text, but it is " + describeNode(n), "put it in quotes"}
	}
	if err != nil {
		var p problem
		if !errors.As(err, &p) {
			p.message = err.Error()
		}
		e := d.report(n, "", "%s", p.hint, p.message)
		d.pendingHints = append(d.pendingHints, pendingHint{e, n, v.Type(), n.Value, err})
		return
	}
	v.Set(reflect.ValueOf(x))
}

// reportWrongType reports that n is not what a field needs.
func (d *decoder) reportWrongType(n *yaml.Node, expected string) {
	d.report(n, "", "expected %s, but it is %s", "", expected, describeNode(n))
}

// decodeList reads each item of a list into an element of the slice v.
func (d *decoder) decodeList(n *yaml.Node, path string, v reflect.Value) {
	if n.Kind != yaml.SequenceNode {
		d.reportWrongType(n, "a list")
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	for i, item := range n.Content {
		itemPath := fmt.Sprintf("%s[%d]", path, i+1)
		d.nodes[itemPath] = item
		d.decodeValue(item, itemPath, v.Index(i))
	}
}

// decodeMapping reads a mapping from names to settings.
func (d *decoder) decodeMapping(n *yaml.Node, path string, m namedSettings) {
	if n.Kind != yaml.MappingNode {
		d.reportWrongType(n, "a mapping of names")
		return
	}
	m.clear()
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		at := joinPath(path, key.Value)
		d.nodes[at] = key
		d.decodeValue(value, at, reflect.ValueOf(m.add(key.Value)).Elem())
	}
}

// cutOffOrdinal matches the end of a point that YAML has cut off at its comma. YAML does
// that to text between braces without quotes.
var cutOffOrdinal = lazy.Regexp(`^[0-9]+(st|nd|rd|th) time$`)

// decodeStructs reads one mapping into several structs. Each field is read into the struct
// that has a field of this name.
func (d *decoder) decodeStructs(n *yaml.Node, path string, targets ...reflect.Value) {
	if n.Kind != yaml.MappingNode {
		d.reportWrongType(n, "a mapping of fields")
		return
	}
	type field struct {
		reflect.Value
		reflect.StructField
	}
	fields, names := map[string]field{}, []string(nil)
	for _, v := range targets {
		for _, f := range reflect.VisibleFields(v.Type()) {
			name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			if name == "" || name == "-" || !f.IsExported() {
				continue
			}
			fields[name] = field{v.FieldByIndex(f.Index), f}
			names = append(names, name)
		}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if field, ok := fields[key.Value]; ok {
			fieldPath := joinPath(path, key.Value)
			d.nodes[fieldPath] = key
			if d.checkLimit(key, value, field.StructField) {
				d.decodeValue(value, fieldPath, field.Value)
			}
			continue
		}
		if cutOffOrdinal().MatchString(key.Value) {
			d.report(key, "", "the comma before it ends the value", "between braces, put a point with a comma in quotes, as in "+quote("client-1 write, "+key.Value))
			continue
		}
		d.report(key, "", "there is no such field", d.suggest(key, key.Value, func() suggestion {
			if meant := d.meantPath(key, path, names); meant != "" {
				return suggestion{hint: "did you mean " + quote(meant) + "?"}
			}
			return suggestion{hint: DidYouMean(key.Value, names)}
		}).hint)
	}
}

// meantPath returns the whole path that an override was probably meant to have, if key is an
// unknown field in the path of the override. The hint then has a path that the user can copy.
// names are the known fields at path. It returns "" if the key is from a file, or from the
// value of an override, or no known field is near.
func (d *decoder) meantPath(key *yaml.Node, path string, names []string) string {
	o, ok := d.overridden[key]
	near := nearest(key.Value, names)
	if !ok || near == "" {
		return ""
	}
	rest, ok := strings.CutPrefix(o.path, joinPath(path, key.Value))
	if !ok {
		return ""
	}
	return joinPath(path, near) + rest
}
