// Package scenarios reads and runs scenario files. A scenario says which clients do what,
// which faults strike and when, and which result is expected.
//
// Each scenario is one YAML file. [Parse] reads it strictly, and schema.json describes it
// to editors. [Variant.Config] turns it into a world, and [Run] runs it without fencing
// tokens and with them. The scenarios of the catalogue are embedded in the program: see
// [Embedded].
package scenarios

import (
	"gopkg.in/yaml.v3"

	"github.com/locksim/locksim/trace"
)

// A Scenario is one scenario file, which has one or more variants.
type Scenario struct {
	// Name is the file's base name without its extension.
	Name string
	// File is the file name that was given to [Parse].
	File string
	// Text is the content of the file.
	Text  string
	Title string
	// Group is the group of the catalogue that the scenario belongs to, and Source says
	// where its story comes from.
	Group, Source string
	Narrative
	// Overrides are the values that differ from those of the file; see [Scenario.With].
	Overrides []string
	// Variants are the versions of the scenario, in the order of the file. If the file has
	// no field variants, there is one, whose name is "".
	Variants []*Variant
}

// A Narrative is what a scenario says in words about what happens in it. Each field can be
// empty.
type Narrative struct {
	// Assumption is the assumption of the lock that the faults break. Story says what
	// happens. Question is a question to think about before looking at the result.
	Assumption, Story, Question string
	// Why says in one line why the lock or the data breaks, or holds. Prevention says what
	// would have prevented the damage. Lesson says what to learn from the scenario.
	Why, Prevention, Lesson string
	// Kleppmann and Sanfilippo are what the two sides of the debate about Redlock say about
	// such a case. Redis is what the documentation of Redis says.
	Kleppmann, Sanfilippo, Redis string
}

// A Variant is one complete version of a scenario.
type Variant struct {
	// Scenario is the name of the scenario, and Name that of the variant.
	Scenario, Name string
	// Title and the fields of the Narrative are the variant's own, or else those of the
	// scenario.
	Title string
	Narrative
	// Lock is the kind of lock that the variant names, its own lock.
	Lock string
	// Witnesses are the preconditions that must have been observed for a verdict to mean
	// anything.
	Witnesses []trace.Witness
	// Measures are the names of the measures in the report of the scenario.
	Measures []string

	spec spec
	root *yaml.Node
	// places knows the place in the file of each value, for error messages; nil if the
	// variant was not read from a file.
	places *decoder
	// changes are the changes that WithChange has made, in order.
	changes []Change
	// overrides are those of the scenario.
	overrides []string
}

// The two runs of a variant.
const (
	// Off is the run without fencing tokens.
	Off = "off"
	// On is the run in which the storage checks fencing tokens.
	On = "on"
)
