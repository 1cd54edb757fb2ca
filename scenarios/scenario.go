// Package scenarios reads and runs scenario files: which clients do what, what goes wrong
// and when, and which result is expected.
//
// A scenario is one YAML file. [Parse] reads it strictly, schema.json describes it to
// editors, [Variant.Config] turns it into a world and [Run] runs it, without fencing tokens
// and with them. The scenarios of the catalogue are embedded: see [Embedded].
package scenarios

import (
	"gopkg.in/yaml.v3"

	"github.com/locksim/locksim/trace"
)

// A Scenario is one file: a story, or several variants of one.
type Scenario struct {
	// Name is the file's base name without its extension.
	Name string
	// File is the file name that was given to [Parse].
	File string
	// Text is the content of the file.
	Text  string
	Title string
	// Group is the group of the catalogue, and Source is where the story comes from.
	Group, Source string
	Narrative
	// Variants are the versions of the story, in the order of the file. A file without
	// variants has one, whose name is empty.
	Variants []*Variant
}

// A Narrative is what a scenario says about itself in words. Each field can be empty.
type Narrative struct {
	// Assumption is the assumption that breaks. Story is what happens. Question is what the
	// reader can think about before looking at what happened.
	Assumption, Story, Question string
	// Why says in one line why it breaks or holds. Prevention is what would have helped.
	// Lesson is what to learn from it.
	Why, Prevention, Lesson string
	// Kleppmann and Sanfilippo are what the two sides of the debate say about it, and Redis
	// is what the documentation of Redis says.
	Kleppmann, Sanfilippo, Redis string
}

// A Variant is one complete version of a scenario.
type Variant struct {
	// Scenario is the name of the scenario and Name that of the variant.
	Scenario, Name string
	// Title and each field of the Narrative are the variant's own if it has one, and
	// otherwise the scenario's.
	Title string
	Narrative
	// Lock is the kind of lock that the scenario uses.
	Lock string
	// Witnesses are what must have happened for a verdict to mean anything.
	Witnesses []trace.Witness
	// Measures are the names of the measures in the report.
	Measures []string

	spec spec
	root *yaml.Node
	// written holds where in the file everything was written; nil if there is no file.
	written *decoder
	// changes are the changes made by WithChange, in order.
	changes []Change
}

// The two runs of a variant.
const (
	// Off is the run without fencing tokens.
	Off = "off"
	// On is the run in which the storage checks fencing tokens.
	On = "on"
)
