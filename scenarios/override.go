package scenarios

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/locksim/locksim/internal/lazy"
)

// An override gives one value of a scenario another value, without changing its file.
type override struct {
	// text is the override as it was given; see [Scenario.With].
	text string
	// path is the place of the value, and value the new value; see [Scenario.With].
	path, value string
}

// removal is the text that stands in place of a value in an override that removes what is at its
// path.
const removal = "null"

// parseOverride reads an override in the syntax of --set: a path, an equals sign, a value.
func parseOverride(text string) (override, error) {
	path, value, ok := strings.Cut(text, "=")
	o := override{text, strings.TrimSpace(path), strings.TrimSpace(value)}
	if !ok {
		return o, fmt.Errorf("--set %s sets nothing; write a path, an equals sign and a value, as in lock.ttl=10s", quote(text))
	}
	if _, err := o.parts(); err != nil {
		return o, fmt.Errorf("--set %w", err)
	}
	return o, nil
}

// source returns the override as errors name it, such as "--set lock.ttl=10s".
func (o override) source() string {
	s := quote(o.path + "=" + o.value)
	return "--set " + s[1:len(s)-1]
}

// A pathPart is one step of a path: the name of a field, or the number of an item, from 1.
type pathPart struct {
	name   string
	number int
}

var pathParts = lazy.Regexp(`^([^.\[\]]+)((?:\[[0-9]+\])*)$`)

// parts splits the path.
func (o override) parts() ([]pathPart, error) {
	var parts []pathPart
	for name := range strings.SplitSeq(o.path, ".") {
		m := pathParts().FindStringSubmatch(name)
		if m == nil {
			return nil, fmt.Errorf("%s is not the path of a value; a path is names with dots between them, and the number of an item in brackets, as in lock.ttl or faults[1].for", quote(o.path))
		}
		parts = append(parts, pathPart{name: m[1]})
		for number := range strings.SplitSeq(strings.Trim(m[2], "[]"), "][") {
			n, err := strconv.Atoi(number)
			switch {
			case number == "":
			case err != nil || n == 0:
				return nil, fmt.Errorf("%s has the number %s, and items are counted from 1", quote(o.path), number)
			default:
				parts = append(parts, pathPart{number: n})
			}
		}
	}
	return parts, nil
}

// With returns the scenario with each of its variants changed by the overrides, in order;
// without overrides it returns s.
//
// An override is a path, an equals sign and a value, such as "lock.ttl=10s". The path is
// the place of the value as error messages write it, such as "faults[1].for"; the items of
// a list are counted from 1. The value is YAML on one line, as a file would have it, such
// as "20s" or "[read x, write x]"; the word null removes what is there.
//
// Each changed variant is read and checked again like a file. If a text is not an override, the
// error says why; if a change is not possible, it is an [Errors]. The error about a value that
// an override has set names the override in place of a file. Any other error names the file,
// and the overrides.
//
// A changed variant has neither expectations nor witnesses nor a narrative, because those
// of the file are about the scenario as its author wrote it.
func (s *Scenario) With(overrides ...string) (*Scenario, error) {
	if len(overrides) == 0 {
		return s, nil
	}
	var parsed []override
	for _, text := range overrides {
		o, err := parseOverride(text)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, o)
	}
	changed := *s
	changed.Narrative = Narrative{}
	changed.Overrides = slices.Concat(s.Overrides, overrides)
	changed.Variants = nil
	var all Errors
	for _, v := range s.Variants {
		if v.places == nil {
			return nil, fmt.Errorf("%s was not read from a scenario file, so it cannot be changed", v.Scenario)
		}
		d, root := v.override(parsed)
		if len(d.errs) > 0 {
			for _, e := range d.errs {
				if e.File == v.places.file {
					e.Message += ", with " + describeOverrides(parsed)
				}
			}
			all = append(all, d.errs...)
			continue
		}
		c := changed.variant(v.Name, d, root)
		c.overrides = changed.Overrides
		c.spec.ExpectWith = v.spec.ExpectWith // a comparison takes its locks from it
		changed.Variants = append(changed.Variants, c)
	}
	if len(all) > 0 {
		return nil, all.summarize()
	}
	return &changed, nil
}

// describeOverrides names overrides in an error.
func describeOverrides(overrides []override) string {
	var words []string
	for _, o := range overrides {
		words = append(words, o.source())
	}
	return strings.Join(words, " ")
}

// override returns a draft of the variant with the overrides, and its root. If a value
// cannot be set, or the changed variant is not valid, the draft has errors.
func (v *Variant) override(overrides []override) (*draft, *yaml.Node) {
	t := v.places.cleanDraft().tree
	t.paths, t.overridden = maps.Clone(t.paths), maps.Clone(t.overridden)
	root := v.root
	for _, o := range overrides {
		e := &edit{tree: t, override: o, variant: v.Name}
		root = e.apply(root)
	}
	if len(t.errs) > 0 {
		return &draft{decoder: &decoder{tree: t}}, root
	}
	for _, field := range commentary {
		if field != "title" {
			root, _ = removeKey(root, field)
		}
	}
	d := t.decodeDraft(root)
	d.check()
	return d, root
}

// An edit makes one override in a tree. It copies every mapping and list that it changes,
// because other variants share them.
type edit struct {
	*tree
	override
	variant string
}

// apply returns the root with the override. If that is impossible, it reports why and
// returns the root as it was.
func (e *edit) apply(root *yaml.Node) *yaml.Node {
	parts, err := e.parts()
	if err != nil {
		e.fail("", "%v", "", err)
		return root
	}
	if parts[0].name == "variants" {
		e.fail("", "--set changes every variant", `write the path without "variants" and the name, and choose the variant with --variant`)
		return root
	}
	if slices.Contains(commentary, parts[0].name) {
		e.fail("", "%s is about the unchanged scenario", "to change it, edit the file", parts[0].name)
		return root
	}
	names := slices.DeleteFunc(yamlNames(reflect.TypeFor[spec]()), func(name string) bool { return slices.Contains(commentary, name) })
	if !slices.Contains(names, parts[0].name) {
		hint := DidYouMean(parts[0].name, names)
		if near := nearest(parts[0].name, names); near != "" {
			hint = "did you mean " + quote(near+strings.TrimPrefix(e.path, parts[0].name)) + "?"
		}
		e.fail("", "there is no such field", hint)
		return root
	}
	value := e.read()
	if value == nil {
		return root
	}
	return e.setAt(root, parts, "", value)
}

// yamlNames returns the names of the fields of a struct in a file.
func yamlNames(t reflect.Type) []string {
	var names []string
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("yaml"), ","); name != "" && name != "-" && f.IsExported() {
			names = append(names, name)
		}
	}
	return names
}

// fail reports a problem of the override.
func (e *edit) fail(path, message, hint string, args ...any) {
	n := &yaml.Node{}
	e.overridden[n] = e.override
	e.report(n, path, message, hint, args...)
}

// read parses the value. It returns nil after a problem, which it reports.
func (e *edit) read() *yaml.Node {
	if e.value == "" {
		e.fail("", "there is no value", "write it after the equals sign; null removes what is there")
		return nil
	}
	text := &tree{file: e.source(), paths: e.paths, suggestions: e.suggestions}
	var value *yaml.Node
	if data := []byte(e.value); text.isText(data) {
		var err error
		if value, err = decodeYAML(data); err != nil {
			text.errs = append(text.errs, text.syntaxError(data, err))
		} else {
			text.checkNode(value, e.path, 1)
		}
	}
	for _, problem := range text.errs {
		problem.Line, problem.Column, problem.Path = 0, 0, ""
		e.errs = append(e.errs, problem)
	}
	if len(text.errs) > 0 {
		e.found += len(text.errs)
		return nil
	}
	e.markOverridden(value)
	return value
}

// markOverridden records that a value, and all values in it, come from the override.
func (e *edit) markOverridden(n *yaml.Node) {
	e.overridden[n] = e.override
	for _, child := range n.Content {
		e.markOverridden(child)
	}
}

// setAt returns a copy of n in which the value at the given parts of the path, relative to n, is
// replaced. path is the path of n; n is nil if nothing is there yet. After a problem, which it
// reports, setAt returns n.
func (e *edit) setAt(n *yaml.Node, parts []pathPart, path string, value *yaml.Node) *yaml.Node {
	if len(parts) == 0 {
		return value
	}
	part, isRemoval := parts[0], e.value == removal && len(parts) == 1
	var changed yaml.Node
	switch {
	case n != nil:
		changed = *n
		changed.Content = slices.Clone(n.Content)
	case e.value == removal:
		e.fail("", "there is nothing to remove", "")
		return nil
	case part.number > 0:
		changed = yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	default:
		changed = yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	}
	// The file was valid, so an error at the mapping or list itself comes from the override.
	e.overridden[&changed], e.paths[&changed] = e.override, path
	if part.number > 0 {
		return e.putItem(&changed, n, parts, path, value, isRemoval)
	}
	return e.putField(&changed, n, parts, path, value, isRemoval)
}

// putField sets a field of a mapping. to is a copy of the mapping n.
func (e *edit) putField(to, n *yaml.Node, parts []pathPart, path string, value *yaml.Node, isRemoval bool) *yaml.Node {
	name := parts[0].name
	if to.Kind != yaml.MappingNode {
		e.fail("", "%s is %s, and has no field %s", e.hintOfItems(to), path, describeNode(to), quote(name))
		return n
	}
	at, fieldPath := indexOf(to, name), joinPath(path, name)
	var old *yaml.Node
	if at >= 0 {
		old = to.Content[at+1]
	}
	if isRemoval {
		if at < 0 {
			e.fail("", "there is nothing to remove", "")
			return n
		}
		to.Content = slices.Delete(to.Content, at, at+2)
		return to
	}
	field := e.setAt(old, parts[1:], fieldPath, value)
	if field == nil {
		return n
	}
	if at < 0 {
		at = len(to.Content)
		to.Content = append(to.Content, nil, nil)
	}
	to.Content[at+1] = field
	if to.Content[at] == nil || len(parts) == 1 { // errors about a field are at its key
		key := valueNode(name)
		e.overridden[key], e.paths[key] = e.override, fieldPath
		to.Content[at] = key
	}
	if isFault(path) {
		e.replaceTiming(to, name)
	}
	return to
}

// hintOfItems says how the items of a list are named; it returns "" if n is no list.
func (e *edit) hintOfItems(n *yaml.Node) string {
	if n.Kind == yaml.SequenceNode {
		return "its items are counted from 1, as in faults[1]"
	}
	return ""
}

// putItem sets an item of a list. to is a copy of the list n. If the number is the one
// after the last item, putItem adds an item.
func (e *edit) putItem(to, n *yaml.Node, parts []pathPart, path string, value *yaml.Node, isRemoval bool) *yaml.Node {
	number := parts[0].number
	items := len(to.Content)
	switch {
	case to.Kind != yaml.SequenceNode:
		e.fail("", "%s is %s, and no list", "", path, describeNode(to))
		return n
	case number > items+1, number > items && (isRemoval || len(parts) > 1):
		in, hint := "", fmt.Sprintf("to add an item, set %s[%d] to a whole item", path, items+1)
		if e.variant != "" {
			in, hint = " in the variant "+e.variant, hint+", or choose another variant with --variant"
		}
		e.fail("", "there is no %s[%d]%s, because the list has %d", hint, path, number, in, items)
		return n
	case isRemoval:
		to.Content = slices.Delete(to.Content, number-1, number)
		return to
	}
	var old *yaml.Node
	if number <= items {
		old = to.Content[number-1]
	}
	item := e.setAt(old, parts[1:], fmt.Sprintf("%s[%d]", path, number), value)
	switch {
	case item == nil:
		return n
	case number <= items:
		to.Content[number-1] = item
	default:
		to.Content = append(to.Content, item)
	}
	return to
}

// isFault reports whether a path is that of a fault.
func isFault(path string) bool {
	rest, ok := strings.CutPrefix(path, "faults[")
	return ok && !strings.Contains(rest, ".")
}

// replaceTiming removes from a fault the fields that contradict a new one. One field says
// when a fault strikes, and one when it ends.
func (e *edit) replaceTiming(fault *yaml.Node, field string) {
	var others []string
	switch {
	case slices.Contains(triggers, field):
		others = triggers
	case field == "for":
		others = []string{"until"}
	case field == "until":
		others = []string{"for", "by-clock-of"}
	}
	for _, other := range others {
		if at := indexOf(fault, other); at >= 0 && other != field {
			fault.Content = slices.Delete(fault.Content, at, at+2)
		}
	}
}
