package scenarios

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Fields are a mapping of a scenario file, in the order in which they are written. The
// value of each field is a string, a number, a list of strings, Fields, or a list of
// Fields.
type Fields []Field

// A Field is one entry of a mapping.
type Field struct {
	Name  string
	Value any
}

// node returns the mapping as a YAML node.
func (f Fields) node() *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, field := range f {
		n.Content = append(n.Content, valueNode(field.Name), valueNode(field.Value))
	}
	return n
}

// valueNode returns a value as a YAML node. It panics if YAML cannot express the value,
// which is a bug of the program: no value from a file is passed to it.
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
	case []string:
		list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, word := range value {
			list.Content = append(list.Content, valueNode(word))
		}
		return list
	case string:
		if isPlain(value) {
			return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
		}
	}
	n := &yaml.Node{}
	if err := n.Encode(value); err != nil {
		panic(fmt.Sprintf("scenarios: %v cannot be a value of a scenario: %v", value, err))
	}
	return n
}

// isPlain reports whether YAML writes a word without quotes. It recognizes only the two forms
// of most words in scenarios, so it may return false for a plain word. One form is a name of
// small letters, digits and hyphens that no version of YAML reads as something else. The other
// is a time such as 28.5s. The YAML encoder knows the exact rules, but calling it would be a
// large part of the cost of making a world.
func isPlain(word string) bool {
	switch word {
	case "", "y", "n", "yes", "no", "on", "off", "true", "false", "null":
		return false
	}
	letter := func(r byte) bool { return 'a' <= r && r <= 'z' }
	digit := func(r byte) bool { return '0' <= r && r <= '9' }
	first, last := word[0], word[len(word)-1]
	isTime := digit(first) && (last == 's' || last == 'm' || last == 'h')
	for i := range len(word) {
		if c := word[i]; !letter(c) && !digit(c) && (c != '-' || isTime) && (c != '.' || !isTime) {
			return false
		}
	}
	return letter(first) || isTime
}

// Document returns the mapping as the text of a scenario file.
func (f Fields) Document() []byte { return (&Document{f.node()}).Bytes() }

// String returns the mapping on one line.
func (f Fields) String() string {
	n := f.node()
	n.Style = yaml.FlowStyle
	for _, value := range n.Content {
		value.Style |= yaml.FlowStyle
	}
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	if err := e.Encode(n); err != nil {
		panic("scenarios: a mapping cannot be written: " + err.Error()) // impossible: node made it
	}
	e.Close()
	return string(bytes.TrimSpace(b.Bytes()))
}

// FaultFields returns a fault as an item of a scenario's list of faults: the fields that
// say when it strikes, what it does, and when it ends.
func FaultFields(f sim.Fault) Fields {
	var fields Fields
	add := func(name string, value any) { fields = append(fields, Field{name, value}) }
	switch s := f.Strikes; {
	case !s.Before.IsZero():
		add("before", s.Before.String())
	case !s.When.IsZero():
		add("when", s.When.String())
	case s.At != 0:
		add("at", trace.ShortDuration(s.At))
	}
	fields = append(fields, actionFields(f.Action)...)
	switch {
	case !f.Until.IsZero():
		add("until", f.Until.String())
	case f.For != 0:
		add("for", trace.ShortDuration(f.For))
	}
	if f.ByClockOf != "" {
		add("by-clock-of", f.ByClockOf)
	}
	return fields
}

// FaultText returns a description of a fault that was not read from a file: its kind and
// its target, then its other parameters. For a fault from a file, describeFault does the
// same.
func FaultText(f sim.Fault) string {
	kind, _ := sim.KindOf(f.Action)
	var action, parameters string
	for _, field := range actionFields(f.Action) {
		words := field.Name + " " + field.text()
		if field.Name == kind.Name {
			action = words
		} else {
			parameters += ", " + words
		}
	}
	return oneLine(action + parameters)
}

// text returns the field's value as text.
func (f Field) text() string {
	switch value := reflect.ValueOf(f.Value); value.Kind() {
	case reflect.String:
		return value.String()
	case reflect.Slice:
		if words, ok := f.Value.([]string); ok {
			return strings.Join(words, " and ")
		}
	}
	return nodeText(valueNode(f.Value))
}

// actionFields returns the parameters of an action that are not zero.
func actionFields(a sim.Action) Fields {
	var fields Fields
	v := reflect.ValueOf(a).Elem()
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
		if v.Field(i).IsZero() {
			continue
		}
		switch value := v.Field(i).Interface().(type) {
		case time.Duration:
			fields = append(fields, Field{name, trace.ShortDuration(value)})
		case fmt.Stringer:
			fields = append(fields, Field{name, value.String()})
		default:
			fields = append(fields, Field{name, value})
		}
	}
	return fields
}
