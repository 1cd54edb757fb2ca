package scenarios

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// makeSchema returns the JSON Schema of scenario files. It makes the schema from the Go
// types into which the files are parsed, and from the registries of locks, faults and
// properties. A schema cannot express everything, such as whether a client exists; only
// [Parse] checks that.
func makeSchema() []byte {
	m := schemaMaker{definitions: map[string]*schema{}}
	s := m.fields(reflect.TypeFor[file]())
	s.Version = "https://json-schema.org/draft/2020-12/schema"
	s.ID = "https://github.com/locksim/locksim/scenarios/schema.json"
	s.Definitions = m.definitions
	s.Title = "locksim scenario"
	s.Description = "A story in which locks, clocks, processes or the network fail, and what must come of it."
	nameRule := &schema{Pattern: namePattern}
	m.limitNames(s, "clients", &schema{AnyOf: []*schema{nameRule, {Pattern: "^" + clientRangePattern + "$"}}}, 1)
	m.limitNames(s, "nodes", nameRule, 0)
	m.limitNames(s, "services", nameRule, 1)
	m.limitNames(s, "variants", nameRule, 1)
	m.limitNames(s, "expect-with", scalarSchema(reflect.TypeFor[lockKind]()), 0)
	s.Required = []string{"title"}
	s.If = &schema{Not: &schema{Required: []string{"variants"}}}
	s.Then = complete()
	out, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic(err) // impossible: JSON can express every schema
	}
	return append(out, '\n')
}

// A schema is the JSON Schema of one value. It has only the keywords that scenario files
// need, in the order in which they are written.
type schema struct {
	Version              string             `json:"$schema,omitempty"`
	ID                   string             `json:"$id,omitempty"`
	Ref                  string             `json:"$ref,omitempty"`
	Definitions          map[string]*schema `json:"$defs,omitempty"`
	AllOf                []*schema          `json:"allOf,omitempty"`
	AnyOf                []*schema          `json:"anyOf,omitempty"`
	OneOf                []*schema          `json:"oneOf,omitempty"`
	Not                  *schema            `json:"not,omitempty"`
	If                   *schema            `json:"if,omitempty"`
	Then                 *schema            `json:"then,omitempty"`
	Items                *schema            `json:"items,omitempty"`
	Properties           schemaProperties   `json:"properties,omitempty"`
	AdditionalProperties *schema            `json:"additionalProperties,omitempty"`
	PropertyNames        *schema            `json:"propertyNames,omitempty"`
	Type                 string             `json:"type,omitempty"`
	Enum                 []string           `json:"enum,omitempty"`
	Maximum              json.Number        `json:"maximum,omitempty"`
	Minimum              json.Number        `json:"minimum,omitempty"`
	MinLength            json.Number        `json:"minLength,omitempty"`
	Pattern              string             `json:"pattern,omitempty"`
	MaxItems             json.Number        `json:"maxItems,omitempty"`
	MinItems             json.Number        `json:"minItems,omitempty"`
	UniqueItems          bool               `json:"uniqueItems,omitempty"`
	MaxProperties        json.Number        `json:"maxProperties,omitempty"`
	MinProperties        json.Number        `json:"minProperties,omitempty"`
	Required             []string           `json:"required,omitempty"`
	Title                string             `json:"title,omitempty"`
	Description          string             `json:"description,omitempty"`
	Examples             []string           `json:"examples,omitempty"`
}

// falseSchema is a schema that no value satisfies.
var falseSchema = &schema{}

func (s *schema) MarshalJSON() ([]byte, error) {
	if s == falseSchema {
		return []byte("false"), nil
	}
	type plain schema
	return json.Marshal((*plain)(s))
}

// schemaProperties are the properties of a schema, written in the order of the fields.
type schemaProperties []schemaProperty

type schemaProperty struct {
	name string
	*schema
}

func (p schemaProperties) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, property := range p {
		name, err := json.Marshal(property.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(property.schema)
		if err != nil {
			return nil, err
		}
		b.WriteByte("{,"[min(i, 1)])
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// lookup returns the schema of a property; nil if there is none.
func (p schemaProperties) lookup(name string) *schema {
	for _, property := range p {
		if property.name == name {
			return property.schema
		}
	}
	return nil
}

// A schemaMaker makes the schemas of Go types. It defines each struct once and refers to
// the definition, unless the caller asks for the fields.
type schemaMaker struct{ definitions map[string]*schema }

// schemaOf returns the schema of a type. No field is required, because a variant contains
// only what it changes.
func (m schemaMaker) schemaOf(t reflect.Type) *schema {
	if t.Kind() == reflect.Pointer {
		return m.schemaOf(t.Elem())
	}
	if s := scalarSchema(t); s != nil {
		return s
	}
	if _, ok := reflect.New(t).Interface().(namedSettings); ok {
		value, _ := t.Elem().FieldByName("value")
		return &schema{Type: "object", AdditionalProperties: m.schemaOf(value.Type)}
	}
	switch t.Kind() {
	case reflect.Struct:
		if m.definitions[t.Name()] == nil {
			m.definitions[t.Name()] = m.definition(t)
		}
		return &schema{Ref: "#/$defs/" + t.Name()}
	case reflect.Slice:
		return &schema{Type: "array", Items: m.schemaOf(t.Elem())}
	case reflect.Int:
		return &schema{Type: "integer"}
	case reflect.Bool:
		return &schema{Type: "boolean"}
	case reflect.String:
		return &schema{Type: "string"}
	}
	panic("the schema knows nothing of " + t.String())
}

func (m schemaMaker) definition(t reflect.Type) *schema {
	if t == reflect.TypeFor[fault]() {
		return m.faults()
	}
	return m.fields(t)
}

// fields returns the schema of a struct with all its fields, and not a reference to a
// definition.
func (m schemaMaker) fields(t reflect.Type) *schema {
	s := &schema{Type: "object", AdditionalProperties: falseSchema}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if name == "" || name == "-" || !f.IsExported() {
			continue
		}
		property := m.schemaOf(f.Type)
		property.applyTags(f.Tag)
		s.Properties = append(s.Properties, schemaProperty{name, property})
	}
	return s
}

// applyTags adds to a schema what the tags of a field say.
func (s *schema) applyTags(tag reflect.StructTag) {
	s.Description = tag.Get("jsonschema_description")
	const comma = "\x00"
	for _, rule := range strings.Split(strings.ReplaceAll(tag.Get("jsonschema"), `\,`, comma), ",") {
		name, value, _ := strings.Cut(strings.ReplaceAll(rule, comma, ","), "=")
		switch number := json.Number(value); name {
		case "":
		case "description":
			s.Description = value
		case "type":
			s.Type = value
		case "enum":
			s.Enum = append(s.Enum, value)
		case "minLength":
			s.MinLength = number
		case "minimum":
			s.Minimum = number
		case "maximum":
			s.Maximum = number
		case "minItems":
			s.MinItems = number
		case "maxItems":
			s.MaxItems = number
		case "maxProperties":
			s.MaxProperties = number
		case "uniqueItems":
			s.UniqueItems = true
		default:
			panic("the schema knows no rule " + name)
		}
	}
}

// complete returns a schema for a file without variants, which says what it must contain.
func complete() *schema {
	object := func(properties ...schemaProperty) *schema { return &schema{Properties: properties} }
	run := &schema{Required: []string{"verdict"}}
	s := object(schemaProperty{"lock", &schema{Required: []string{"kind", "ttl"}}},
		schemaProperty{"expect", object(schemaProperty{"off", run}, schemaProperty{"on", run})})
	s.Required = []string{"lock", "clients"}
	return s
}

// limitNames sets which names a mapping may contain, and how many it must contain at least.
func (m schemaMaker) limitNames(s *schema, mapping string, names *schema, atLeast int) {
	for _, in := range []*schema{s, m.definitions["spec"]} {
		if p := in.Properties.lookup(mapping); p != nil {
			p.PropertyNames = names
			if atLeast > 0 {
				p.MinProperties = json.Number(strconv.Itoa(atLeast))
			}
		}
	}
}

// examples has examples for each type that is written as text, for the schema.
var examples = map[reflect.Type][]string{
	reflect.TypeFor[time.Duration]():    {"500ms", "-31s"},
	reflect.TypeFor[span]():             {"500ms", "1m30s"},
	reflect.TypeFor[delay]():            {"500ms", "1m30s"},
	reflect.TypeFor[latency]():          {"1ms", "600us-1ms"},
	reflect.TypeFor[sim.Rate]():         {"+2%", "-500ppm"},
	reflect.TypeFor[stepOrPoint]():      {"client-1 write", "client-1 acquired", "redis-3 crashed"},
	reflect.TypeFor[trace.Point]():      {"client-1 acquired", "client-1's keys expired", "5s after client-2 released", "every reply to client-1's acquire is in flight", "client-1 wrote, 2nd time"},
	reflect.TypeFor[trace.StepPoint]():  {"client-1 write", "client-1 acquire, 2nd time"},
	reflect.TypeFor[trace.Message]():    {"client-1's write request to storage", "redis-3's reply to client-1's acquire"},
	reflect.TypeFor[trace.NthMessage](): {"client-1's write request to storage", "client-1's acquire request to redis-2, 3rd time"},
	reflect.TypeFor[trace.Task]():       {"read x", "work", "check", "mint", "release-again", "write x", "write x via proxy", "acquire b", "try b"},
	reflect.TypeFor[trace.Witness]():    {"client-2 acquired before client-1 wrote", "client-1's keys expired while client-1 was paused"},
}

// scalarSchema returns the schema of a type that is written as text; nil for any other
// type.
func scalarSchema(t reflect.Type) *schema {
	if _, ok := scalarParsers[t]; ok {
		s := &schema{Type: "string", Pattern: `\S`, Examples: examples[t]}
		switch t {
		case reflect.TypeFor[time.Duration]():
			s.Pattern = `^[-+]?` + durationPattern + `$`
		case reflect.TypeFor[delay]():
			s.Pattern = `^\+?` + durationPattern + `$`
		case reflect.TypeFor[span]():
			s.Pattern = `^\+?` + durationPattern + `$`
			s.Not = &schema{Pattern: `^[^1-9]*$`} // no digit but 0, so the duration is zero
		case reflect.TypeFor[latency]():
			s.Pattern = `^` + durationPattern + `( *- *` + durationPattern + `)?$`
		}
		return s
	}
	if t.Implements(reflect.TypeFor[enum]()) {
		return &schema{Type: "string", Enum: reflect.Zero(t).Interface().(enum).words()}
	}
	return nil
}

// faults returns a schema with one alternative for each registered kind of fault.
func (m schemaMaker) faults() *schema {
	s := &schema{Type: "object"}
	for _, kind := range sim.FaultKinds() {
		s.OneOf = append(s.OneOf, m.fault(kind))
	}
	return s
}

func (m schemaMaker) fault(kind sim.FaultKind) *schema {
	of := reflect.TypeOf(kind.New()).Elem()
	s := m.fields(of)
	s.Title, s.Description = kind.Name, kind.Title
	// The parameters of a fault are required, in contrast to the fields of a scenario. An
	// optional parameter has omitempty in its tag.
	for f := range of.Fields() {
		if name, options, _ := strings.Cut(f.Tag.Get("yaml"), ","); options != "omitempty" {
			s.Required = append(s.Required, name)
		}
	}
	for _, p := range m.fields(reflect.TypeFor[timing]()).Properties {
		if kind.Instant && (p.name == "until" || p.name == "for" || p.name == "by-clock-of") {
			continue
		}
		s.Properties = append(s.Properties, p)
	}
	s.AllOf = append(atMostOne(triggers...), atMostOne("until", "for")...)
	return s
}

// atMostOne returns schemas that together forbid more than one of some properties, because
// each of them forbids one pair.
func atMostOne(properties ...string) []*schema {
	var pairs []*schema
	for i, a := range properties {
		for _, b := range properties[i+1:] {
			pairs = append(pairs, &schema{Not: &schema{Required: []string{a, b}}})
		}
	}
	return pairs
}
