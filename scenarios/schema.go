package scenarios

import (
	"encoding/json"
	"reflect"
	"time"

	"github.com/invopop/jsonschema"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Schema is the JSON Schema of scenario files, made from the types that they
// are parsed into and the registries of locks, faults and properties. What a
// schema cannot see, such as whether a client exists, only [Parse] checks.
func Schema() []byte {
	s := reflector().Reflect(&file{})
	s.ID = "https://github.com/locksim/locksim/scenarios/schema.json"
	s.Title = "locksim scenario"
	s.Description = "A story in which locks, clocks, processes or the network fail, and what must come of it."
	nameRule := &jsonschema.Schema{Pattern: namePattern}
	bound(s, "clients", &jsonschema.Schema{AnyOf: []*jsonschema.Schema{nameRule, {Pattern: "^" + severalPattern + "$"}}}, 1)
	bound(s, "nodes", nameRule, 0)
	bound(s, "services", nameRule, 1)
	bound(s, "variants", nameRule, 1)
	bound(s, "expect-with", scalarSchema(reflect.TypeFor[lockKind]()), 0)
	s.Required = []string{"title"}
	s.If = &jsonschema.Schema{Not: &jsonschema.Schema{Required: []string{"variants"}}}
	s.Then = complete()
	out, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic(err) // a schema holds nothing that JSON cannot
	}
	return append(out, '\n')
}

// reflector makes schemas of our types: no field is required by itself, because
// a variant gives only what it changes.
func reflector() *jsonschema.Reflector {
	return &jsonschema.Reflector{
		FieldNameTag:               "yaml",
		RequiredFromJSONSchemaTags: true,
		ExpandedStruct:             true,
		Anonymous:                  true,
		Mapper:                     scalarSchema,
	}
}

// complete is what a file must hold that has no variants to add it.
func complete() *jsonschema.Schema {
	run := &jsonschema.Schema{Required: []string{"verdict"}}
	s := object("lock", &jsonschema.Schema{Required: []string{"kind", "ttl"}},
		"expect", object("off", run, "on", run))
	s.Required = []string{"lock", "clients"}
	return s
}

// object is a schema of some properties, given as names and schemas in turn.
func object(properties ...any) *jsonschema.Schema {
	s := &jsonschema.Schema{Properties: jsonschema.NewProperties()}
	for i := 0; i < len(properties); i += 2 {
		s.Properties.Set(properties[i].(string), properties[i+1].(*jsonschema.Schema))
	}
	return s
}

// bound says which names a mapping may hold, how many it must and how many it can.
func bound(s *jsonschema.Schema, mapping string, names *jsonschema.Schema, atLeast uint64) {
	most, limited := mostItems(fieldOf(reflect.TypeFor[file](), mapping))
	for _, in := range []*jsonschema.Schema{s, s.Definitions["spec"]} {
		if p, ok := in.Properties.Get(mapping); ok {
			p.PropertyNames = names
			if limited {
				n := uint64(most)
				p.MaxProperties = &n
			}
			if atLeast > 0 {
				p.MinProperties = &atLeast
			}
		}
	}
}

// examples are what editors show of the types that are written as text.
var examples = map[reflect.Type][]any{
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

// scalarSchema is the schema of a type that is written as text, or nil.
func scalarSchema(t reflect.Type) *jsonschema.Schema {
	if _, ok := scalarParsers[t]; ok {
		s := &jsonschema.Schema{Type: "string", Pattern: `\S`, Examples: examples[t]}
		switch t {
		case reflect.TypeFor[time.Duration]():
			s.Pattern = `^[-+]?` + durationPattern + `$`
		case reflect.TypeFor[delay]():
			s.Pattern = `^\+?` + durationPattern + `$`
		case reflect.TypeFor[span]():
			s.Pattern = `^\+?` + durationPattern + `$`
			s.Not = &jsonschema.Schema{Pattern: `^[^1-9]*$`} // zero
		case reflect.TypeFor[latency]():
			s.Pattern = `^` + durationPattern + `( *- *` + durationPattern + `)?$`
		}
		return s
	}
	if t.Implements(reflect.TypeFor[enum]()) {
		s := &jsonschema.Schema{Type: "string"}
		for _, word := range reflect.Zero(t).Interface().(enum).words() {
			s.Enum = append(s.Enum, word)
		}
		return s
	}
	return nil
}

// JSONSchema is one schema for each registered kind of fault.
func (fault) JSONSchema() *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object"}
	for _, kind := range sim.FaultKinds() {
		s.OneOf = append(s.OneOf, faultSchema(kind))
	}
	return s
}

func faultSchema(kind sim.FaultKind) *jsonschema.Schema {
	r := reflector()
	r.DoNotReference = true
	when := r.Reflect(&timing{})
	// Unlike the fields of a story, a fault's parameters stand together: those
	// that may be left out say omitempty.
	r.RequiredFromJSONSchemaTags = false
	s := r.ReflectFromType(reflect.TypeOf(kind.New()).Elem())
	s.Version, s.Definitions = "", nil
	s.Title, s.Description = kind.Name, kind.Title
	for p := when.Properties.Oldest(); p != nil; p = p.Next() {
		if kind.Instant && (p.Key == "until" || p.Key == "for" || p.Key == "by-clock-of") {
			continue
		}
		s.Properties.Set(p.Key, p.Value)
	}
	s.AllOf = append(atMostOne(triggers...), atMostOne("until", "for")...)
	return s
}

// atMostOne forbids each two of some properties.
func atMostOne(properties ...string) []*jsonschema.Schema {
	var pairs []*jsonschema.Schema
	for i, a := range properties {
		for _, b := range properties[i+1:] {
			pairs = append(pairs, &jsonschema.Schema{Not: &jsonschema.Schema{Required: []string{a, b}}})
		}
	}
	return pairs
}
