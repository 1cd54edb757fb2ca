// Package scenarios reads the stories that locksim tells: who does what, what
// goes wrong and when, and what must come of it.
//
// A scenario is one YAML file. [Parse] reads it strictly, [Schema] describes it
// to editors, [Variant.Config] turns it into a world and [Run] runs it, without
// fencing tokens and with them. The scenarios of the catalogue are embedded:
// see [Embedded].
package scenarios

import (
	"gopkg.in/yaml.v3"

	"github.com/locksim/locksim/trace"
)

// A Scenario is one file: a story, or several versions of one.
type Scenario struct {
	// Name is the file's base name without its extension.
	Name string
	// File is the file as it was given to [Parse].
	File string
	// Text is what the file says, as it was given to [Parse].
	Text  string
	Title string
	// Group is the shelf that the scenario stands on and Source where it comes
	// from.
	Group, Source string
	Telling
	// Variants are the versions of the story, in the order of the file. A file
	// that names none has one, whose name is empty.
	Variants []*Variant
}

// A Telling is what a scenario says about itself in words. All of it can be
// empty.
type Telling struct {
	// Assumption is what breaks, Story what happens and Question what to think
	// about before looking.
	Assumption, Story, Question string
	// Why says in one line why it breaks or holds, Prevention what would have
	// helped and Lesson what to learn from it.
	Why, Prevention, Lesson string
	// Kleppmann and Sanfilippo are what the two sides of the debate say about it,
	// and Redis what its documentation does.
	Kleppmann, Sanfilippo, Redis string
}

// A Variant is one complete version of a story.
type Variant struct {
	// Scenario is the name of the scenario and Name that of the variant.
	Scenario, Name string
	// Title and what is told besides are the variant's own where it has any,
	// else the scenario's.
	Title string
	Telling
	// Lock is the kind of lock that the story is told with.
	Lock string
	// Witnesses are what must have happened for a verdict to mean anything.
	Witnesses []trace.Witness
	// Measures names what the report measures.
	Measures []string

	spec spec
	root *yaml.Node
	// written is where in its file the story says what.
	written *decoder
	// changes are those that were made since, in order.
	changes []Change
}

// The two runs of a variant.
const (
	// Off is the run without fencing tokens.
	Off = "off"
	// On is the run in which the storage checks them.
	On = "on"
)
