package scenarios

import (
	"github.com/locksim/locksim/sim"
)

// A file is a scenario file as it is written. The YAML tags are the fields'
// names; the descriptions go into the JSON Schema.
type file struct {
	spec
	Variants mapping[spec] `yaml:"variants" jsonschema_description:"Versions of the story, side by side. Each is laid over the file: mappings merge key by key, everything else, lists included, is replaced."`
}

// A spec is one complete story: a file without variants, or a variant laid over
// its file.
type spec struct {
	Title          string                `yaml:"title" jsonschema:"minLength=1" jsonschema_description:"What happens, in one line."`
	Group          group                 `yaml:"group" jsonschema_description:"The shelf that the scenario stands on."`
	Source         string                `yaml:"source" jsonschema:"minLength=1" jsonschema_description:"Where the story comes from."`
	Assumption     assumption            `yaml:"assumption" jsonschema_description:"The assumption of the lock that breaks."`
	Story          string                `yaml:"story" jsonschema:"minLength=1" jsonschema_description:"What happens, in a few plain sentences."`
	Lock           lock                  `yaml:"lock" jsonschema_description:"What the clients compete for."`
	Nodes          mapping[node]         `yaml:"nodes" jsonschema_description:"Settings of Redis nodes. The lock's own nodes are redis-1, redis-2 and so on; every other name must be a replica."`
	Clients        mapping[client]       `yaml:"clients" jsonschema_description:"The clients. Each acquires the lock, reads the resource, works, writes, releases."`
	Storage        storageSpec           `yaml:"storage" jsonschema_description:"The protected resource."`
	Network        network               `yaml:"network" jsonschema_description:"The network between all processes."`
	Faults         []fault               `yaml:"faults" jsonschema_description:"What goes wrong, and when."`
	Horizon        span                  `yaml:"horizon" jsonschema_description:"The run is cut off at this time. Default: 5m."`
	ProgressWithin span                  `yaml:"progress-within" jsonschema_description:"How soon after the last fault some client must have completed a section. Default: before the horizon."`
	Witnesses      []sim.Witness         `yaml:"witnesses" jsonschema_description:"What must have happened for the verdict to mean anything."`
	Expect         expectations          `yaml:"expect" jsonschema_description:"What each run must come to."`
	ExpectWith     mapping[expectations] `yaml:"expect-with" jsonschema_description:"What the runs must come to with other locks, by the kind of lock."`
	Lesson         string                `yaml:"lesson" jsonschema:"minLength=1" jsonschema_description:"What to learn from it, in two or three sentences that one could say in an interview."`
}

type lock struct {
	Kind        lockKind  `yaml:"kind" jsonschema_description:"The lock under test."`
	TTL         span      `yaml:"ttl" jsonschema_description:"How long a grant lasts."`
	Nodes       *int      `yaml:"nodes" jsonschema:"minimum=1,maximum=101" jsonschema_description:"How many Redis nodes the lock has. Default: 5, or 1 for a lock that uses only one."`
	Key         string    `yaml:"key" jsonschema:"minLength=1" jsonschema_description:"The lock's name. Default: resource."`
	Ask         ask       `yaml:"ask" jsonschema_description:"How a quorum lock asks its nodes."`
	Clock       clock     `yaml:"clock" jsonschema_description:"The clock by which the lock measures elapsed time."`
	NodeTimeout span      `yaml:"node-timeout" jsonschema_description:"The bound on each request to one node."`
	Without     []feature `yaml:"without" jsonschema:"uniqueItems=true" jsonschema_description:"The lock's features that are turned off."`
}

type node struct {
	Persistence persistence `yaml:"persistence" jsonschema_description:"What survives a crash. Default: none."`
	ReplicaOf   string      `yaml:"replica-of" jsonschema:"minLength=1" jsonschema_description:"The master that the node follows."`
	Lag         delay       `yaml:"lag" jsonschema_description:"How long after the master the replica makes each change, on top of the network."`
}

type client struct {
	Starts       sim.Point `yaml:"starts" jsonschema_description:"The point in the story at which the client begins. Default: the start of the run."`
	Sections     *int      `yaml:"sections" jsonschema:"minimum=1,maximum=1000000" jsonschema_description:"How many critical sections it completes. Default: 1."`
	Attempts     *int      `yaml:"attempts" jsonschema:"minimum=1,maximum=1000000" jsonschema_description:"How often it asks for the lock for one section before it goes without. Default: no bound."`
	RetryEvery   span      `yaml:"retry-every" jsonschema_description:"The pause between attempts. Default: 1s."`
	Works        delay     `yaml:"works" jsonschema_description:"How long it works between its read and its write."`
	WorksUntil   sim.Point `yaml:"works-until" jsonschema_description:"The point in the story until which it works at least."`
	ExtendsEvery span      `yaml:"extends-every" jsonschema_description:"How often it extends the lock while it works. Default: never."`
	GivesUp      span      `yaml:"gives-up" jsonschema_description:"How long it waits for the storage's answer. Default: for ever."`
	IfRefused    ifRefused `yaml:"if-refused" jsonschema_description:"starts-over: it acquires the lock anew when the storage refuses its read or write. Default: it releases the lock, and that was its section."`
	Writes       writes    `yaml:"writes" jsonschema_description:"blind: it writes without having read."`
}

type storageSpec struct {
	Fencing fencing `yaml:"fencing" jsonschema_description:"What the storage checks in the run with fencing tokens. Default: writes."`
}

type network struct {
	Latency latency `yaml:"latency" jsonschema_description:"How long a message takes one way, shortest and longest, as in 600us-1ms."`
}

type expectations struct {
	Off *expectation `yaml:"off" jsonschema_description:"The run without fencing tokens."`
	On  *expectation `yaml:"on" jsonschema_description:"The run with fencing tokens."`
}

type expectation struct {
	Verdict  verdict    `yaml:"verdict" jsonschema_description:"unsafe when a property of the data is violated, safe when they all hold."`
	Violated []property `yaml:"violated" jsonschema:"uniqueItems=true" jsonschema_description:"Every property that is violated. One that is not listed must hold or not apply."`
}

// A mapping is a YAML mapping from names to settings, in the order of the file.
type mapping[T any] []entry[T]

type entry[T any] struct {
	name  string
	value T
}

// clear makes the mapping empty: one that could not be read is nil.
func (m *mapping[T]) clear() { *m = mapping[T]{} }

// add appends a name and returns where its settings go.
func (m *mapping[T]) add(name string) any {
	*m = append(*m, entry[T]{name: name})
	return &(*m)[len(*m)-1].value
}

// JSONSchemaAlias makes the schema that of a map.
func (mapping[T]) JSONSchemaAlias() any { return map[string]T{} }

func (m mapping[T]) names() []string {
	names := make([]string, len(m))
	for i, e := range m {
		names[i] = e.name
	}
	return names
}

func (m mapping[T]) get(name string) (value T, ok bool) {
	for _, e := range m {
		if e.name == name {
			return e.value, true
		}
	}
	return value, false
}
