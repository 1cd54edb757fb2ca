package scenarios

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/locksim/locksim/internal/lazy"
)

// An Override gives one value of a scenario another value, without changing its file.
type Override struct {
	// Path is the place of the value, as error messages write it: "lock.ttl" or
	// "faults[1].for". The items of a list are counted from 1.
	Path string
	// Value is the new value as a file would have it: YAML on one line, such as "20s" or
	// "[acquire, read]". The word null removes the value.
	Value string
}

// removed is the value of an override that removes what is at its path.
const removed = "null"

// ParseOverride reads an override as the flag --set has it: a path, an equals sign, a value.
func ParseOverride(text string) (Override, error) {
	path, value, ok := strings.Cut(text, "=")
	o := Override{strings.TrimSpace(path), strings.TrimSpace(value)}
	if !ok {
		return o, fmt.Errorf("%s sets nothing; write a path, an equals sign and a value, as in lock.ttl=10s", quote(text))
	}
	if _, err := o.parts(); err != nil {
		return o, err
	}
	return o, nil
}

// String returns the override as the flag --set has it.
func (o Override) String() string { return o.Path + "=" + o.Value }

// source names the override in an error.
func (o Override) source() string {
	s := quote(o.String())
	return "--set " + s[1:len(s)-1]
}

// A pathPart is one step of a path: the name of a field, or the number of an item, from 1.
type pathPart struct {
	name   string
	number int
}

var pathParts = lazy.Regexp(`^([^.\[\]]+)((?:\[[0-9]+\])*)$`)

// parts splits the path.
func (o Override) parts() ([]pathPart, error) {
	var parts []pathPart
	for name := range strings.SplitSeq(o.Path, ".") {
		m := pathParts().FindStringSubmatch(name)
		if m == nil {
			return nil, fmt.Errorf("%s is not the path of a value; a path is names with dots between them, and the number of an item in brackets, as in lock.ttl or faults[1].for", quote(o.Path))
		}
		parts = append(parts, pathPart{name: m[1]})
		for number := range strings.SplitSeq(strings.Trim(m[2], "[]"), "][") {
			n, err := strconv.Atoi(number)
			switch {
			case number == "":
			case err != nil || n == 0:
				return nil, fmt.Errorf("%s has the number %s, and items are counted from 1", quote(o.Path), number)
			default:
				parts = append(parts, pathPart{number: n})
			}
		}
	}
	return parts, nil
}

// With returns the scenario with each of its variants changed by the overrides, in order.
// Each changed variant is read and checked again like a file. The error is an [Errors]; a
// problem of a value that an override has given names the override as its file.
//
// A changed variant expects nothing, has no witnesses and no narrative: they are about the
// scenario as its author wrote it.
func (s *Scenario) With(overrides ...Override) (*Scenario, error) {
	if len(overrides) == 0 {
		return s, nil
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
		d, root := v.override(overrides)
		if len(d.errs) > 0 {
			all = append(all, d.errs...)
			continue
		}
		c := changed.variant(v.Name, d, root)
		c.Title, c.Narrative, c.overrides = v.Title, changed.Narrative, changed.Overrides
		c.spec.ExpectWith = v.spec.ExpectWith // the locks that it names are those to compare
		changed.Variants = append(changed.Variants, c)
	}
	if len(all) > 0 {
		return nil, all.summarize()
	}
	return &changed, nil
}

// override returns a draft of the variant with the overrides, and its root. If a value
// cannot be set, or the changed variant is not valid, the draft has errors.
func (v *Variant) override(overrides []Override) (*draft, *yaml.Node) {
	t := v.places.cleanDraft().tree
	t.paths, t.overridden = maps.Clone(t.paths), maps.Clone(t.overridden)
	root := v.root
	for _, o := range overrides {
		e := &edit{tree: t, Override: o, variant: v.Name}
		root = e.apply(root)
	}
	if len(t.errs) > 0 {
		return &draft{decoder: &decoder{tree: t}}, root
	}
	for _, field := range []string{"witnesses", "expect", "expect-with"} {
		root, _ = removeKey(root, field)
	}
	d := t.decodeDraft(root)
	d.check()
	return d, root
}

// overrideTexts returns the overrides of the variant as text.
func (v *Variant) overrideTexts() []string {
	var texts []string
	for _, o := range v.overrides {
		texts = append(texts, o.String())
	}
	return texts
}

// An edit makes one override in a tree. It copies every mapping and list that it changes,
// because other variants share them.
type edit struct {
	*tree
	Override
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
		e.fail("", "a value is set in every variant", `leave out "variants" and the name, and choose the variant with --variant`)
		return root
	}
	if slices.Contains(authored, parts[0].name) {
		e.fail("", "%s is what the author wrote about the scenario, and does not apply to a changed one", "change the file for that", parts[0].name)
		return root
	}
	value := e.read()
	if value == nil {
		return root
	}
	return e.put(root, parts, "", value)
}

// fail reports a problem of the override.
func (e *edit) fail(path, message, hint string, args ...any) {
	n := &yaml.Node{}
	e.overridden[n] = e.Override
	e.report(n, path, message, hint, args...)
}

// read parses the value. It returns nil after a problem, which it reports.
func (e *edit) read() *yaml.Node {
	if e.Value == "" {
		e.fail("", "there is no value", "write it after the equals sign; null removes what is there")
		return nil
	}
	text := &tree{file: e.source(), paths: e.paths, suggestions: e.suggestions}
	var value *yaml.Node
	if data := []byte(e.Value); text.isText(data) {
		var err error
		if value, err = decodeYAML(data); err != nil {
			text.errs = append(text.errs, text.syntaxError(data, err))
		} else {
			text.checkNode(value, e.Path, 1)
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
	e.own(value)
	return value
}

// own records that a value, and all values in it, come from the override.
func (e *edit) own(n *yaml.Node) {
	e.overridden[n] = e.Override
	for _, child := range n.Content {
		e.own(child)
	}
}

// put returns n with the value at the place to which the parts lead from it. path is the
// path of n. A nil n is a value that does not exist yet.
func (e *edit) put(n *yaml.Node, parts []pathPart, path string, value *yaml.Node) *yaml.Node {
	if len(parts) == 0 {
		return value
	}
	part, isRemoval := parts[0], e.Value == removed && len(parts) == 1
	var changed yaml.Node
	switch {
	case n != nil:
		changed = *n
		changed.Content = slices.Clone(n.Content)
	case e.Value == removed:
		e.fail("", "there is nothing to remove", "")
		return nil
	case part.number > 0:
		changed = yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	default:
		changed = yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	}
	// The file was valid, so a problem of the whole mapping or list comes from the override.
	e.overridden[&changed], e.paths[&changed] = e.Override, path
	if part.number > 0 {
		return e.putItem(&changed, n, parts, path, value, isRemoval)
	}
	return e.putField(&changed, n, parts, path, value, isRemoval)
}

// putField puts the value into the mapping to, a copy of n.
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
	field := e.put(old, parts[1:], fieldPath, value)
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
		e.overridden[key], e.paths[key] = e.Override, fieldPath
		to.Content[at] = key
	}
	if isFault(path) {
		e.replaceTiming(to, name)
	}
	return to
}

// hintOfItems says how the items of a list are named.
func (e *edit) hintOfItems(n *yaml.Node) string {
	if n.Kind == yaml.SequenceNode {
		return "its items are counted from 1, as in faults[1]"
	}
	return ""
}

// putItem puts the value into the list to, a copy of n. It adds an item at the end of the
// list if its number is the next.
func (e *edit) putItem(to, n *yaml.Node, parts []pathPart, path string, value *yaml.Node, isRemoval bool) *yaml.Node {
	number := parts[0].number
	items := len(to.Content)
	switch {
	case to.Kind != yaml.SequenceNode:
		e.fail("", "%s is %s, and no list", "", path, describeNode(to))
		return n
	case number > items+1, number > items && (isRemoval || len(parts) > 1):
		in, hint := "", ""
		if e.variant != "" {
			in, hint = " in the variant "+e.variant, "choose another variant with --variant"
		}
		e.fail("", "there is no %s[%d]%s: the list has %d", hint, path, number, in, items)
		return n
	case isRemoval:
		to.Content = slices.Delete(to.Content, number-1, number)
		return to
	}
	var old *yaml.Node
	if number <= items {
		old = to.Content[number-1]
	}
	item := e.put(old, parts[1:], fmt.Sprintf("%s[%d]", path, number), value)
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

// replaceTiming removes from a fault the fields that contradict a new one: a fault strikes
// by one field, and ends by one.
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
