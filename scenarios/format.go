package scenarios

import "github.com/locksim/locksim/trace"

// A file is a whole scenario file. The YAML tags are the names of the fields; the
// descriptions go into the JSON Schema.
type file struct {
	spec
	Variants mapping[spec] `yaml:"variants" jsonschema:"maxProperties=50" jsonschema_description:"Versions of the story, side by side. Each is laid over the file: mappings merge key by key, everything else, lists included, is replaced."`
}

// A spec is one complete version of a scenario: a file without variants, or a variant
// merged into its file.
type spec struct {
	Title          string                `yaml:"title" jsonschema:"minLength=1" jsonschema_description:"What happens, in one line."`
	Group          group                 `yaml:"group" jsonschema_description:"The shelf that the scenario stands on."`
	Source         string                `yaml:"source" jsonschema:"minLength=1" jsonschema_description:"Where the story comes from."`
	Assumption     assumption            `yaml:"assumption" jsonschema_description:"The assumption of the lock that breaks."`
	Story          string                `yaml:"story" jsonschema:"minLength=1" jsonschema_description:"What happens, in a few plain sentences."`
	Question       string                `yaml:"question" jsonschema:"minLength=1" jsonschema_description:"The question to think about before looking at what happened."`
	Why            string                `yaml:"why" jsonschema:"minLength=1" jsonschema_description:"Why it breaks, or holds, in one line for the matrix."`
	Prevention     string                `yaml:"prevention" jsonschema:"minLength=1" jsonschema_description:"What would have prevented it, in a sentence or two."`
	Says           says                  `yaml:"says" jsonschema_description:"What those who wrote about such locks say about it. Who did not speak of it can be left out."`
	Lock           lock                  `yaml:"lock" jsonschema_description:"What the clients compete for."`
	Nodes          mapping[node]         `yaml:"nodes" jsonschema:"maxProperties=500" jsonschema_description:"Settings of Redis nodes. The lock's own nodes are redis-1, redis-2 and so on; every other is a replica, or named under tokens."`
	Servers        []string              `yaml:"servers" jsonschema:"maxItems=20,uniqueItems=true" jsonschema_description:"How the lock's servers are run otherwise than by default: settings of theirs, each NAME=VALUE; an empty list is none, where a variant has fewer than the others."`
	Clients        mapping[client]       `yaml:"clients" jsonschema:"maxProperties=1000" jsonschema_description:"The clients. Each acquires the lock, reads the resource, works, writes, releases. client-1 to client-10 stands for ten that do the same."`
	Services       mapping[service]      `yaml:"services" jsonschema:"maxProperties=100" jsonschema_description:"Processes that pass requests on their way to the storage on."`
	Schedule       schedule              `yaml:"schedule" jsonschema_description:"When the clients' job is due. With it each client has one section in each period."`
	Tokens         tokens                `yaml:"tokens" jsonschema_description:"Where fencing tokens come from. Default: those that a perfect lock service would issue, or the lock's own."`
	Storage        storageSpec           `yaml:"storage" jsonschema_description:"The protected resource."`
	Network        network               `yaml:"network" jsonschema_description:"The network between all processes."`
	Faults         []fault               `yaml:"faults" jsonschema:"maxItems=1000" jsonschema_description:"What goes wrong, and when."`
	Horizon        span                  `yaml:"horizon" jsonschema_description:"The run is cut off at this time. Default: 5m."`
	ProgressWithin span                  `yaml:"progress-within" jsonschema_description:"How soon after the last fault some client must have completed a section. Default: before the horizon."`
	Witnesses      []trace.Witness       `yaml:"witnesses" jsonschema:"maxItems=200" jsonschema_description:"What must have happened for the verdict to mean anything."`
	Measures       []measure             `yaml:"measures" jsonschema:"maxItems=50,minItems=1,uniqueItems=true" jsonschema_description:"What the report measures: how long, how much and how often."`
	Expect         expectations          `yaml:"expect" jsonschema_description:"What each run must come to."`
	ExpectWith     mapping[expectations] `yaml:"expect-with" jsonschema:"maxProperties=100" jsonschema_description:"What the runs must come to with other locks, by the kind of lock."`
	Lesson         string                `yaml:"lesson" jsonschema:"minLength=1" jsonschema_description:"What to learn from it, in two or three sentences that one could say in an interview."`
}

type says struct {
	Kleppmann  string `yaml:"kleppmann" jsonschema:"minLength=1" jsonschema_description:"What Martin Kleppmann says about it."`
	Sanfilippo string `yaml:"sanfilippo" jsonschema:"minLength=1" jsonschema_description:"What Salvatore Sanfilippo (antirez) says about it."`
	Redis      string `yaml:"redis" jsonschema:"minLength=1" jsonschema_description:"What the documentation of Redis says about it."`
}

type lock struct {
	Kind        lockKind  `yaml:"kind" jsonschema_description:"The lock under test."`
	TTL         span      `yaml:"ttl" jsonschema_description:"How long a grant lasts."`
	Nodes       *int      `yaml:"nodes" jsonschema:"minimum=1,maximum=101" jsonschema_description:"How many Redis nodes the lock has. Default: 5, or 1 for a lock that uses only one."`
	Key         string    `yaml:"key" jsonschema:"minLength=1" jsonschema_description:"The lock's name. Default: resource."`
	Ask         ask       `yaml:"ask" jsonschema_description:"How a quorum lock asks its nodes."`
	Clock       clock     `yaml:"clock" jsonschema_description:"The clock by which the lock measures elapsed time."`
	NodeTimeout span      `yaml:"node-timeout" jsonschema_description:"The bound on each request to one node."`
	Expects     span      `yaml:"expects" jsonschema_description:"How long sections are expected to take, for a lock that chooses its TTL by that. Default: nobody knows."`
	Failures    int       `yaml:"failures" jsonschema:"minimum=1,maximum=1000" jsonschema_description:"After how many failures in a row a circuit breaker asks no more. Default: 5."`
	OpenFor     span      `yaml:"open-for" jsonschema_description:"How long a circuit breaker asks no more then. Default: 60s."`
	Fallback    fallback  `yaml:"fallback" jsonschema_description:"What a circuit breaker does while Redis cannot be reached."`
	Holders     int       `yaml:"holders" jsonschema:"minimum=1,maximum=1000" jsonschema_description:"How many may hold the lock at one moment. Default: one."`
	Without     []feature `yaml:"without" jsonschema:"maxItems=50,uniqueItems=true" jsonschema_description:"The lock's features that are turned off."`
}

type node struct {
	Persistence persistence `yaml:"persistence" jsonschema_description:"What survives a crash. Default: none."`
	ReplicaOf   string      `yaml:"replica-of" jsonschema:"minLength=1" jsonschema_description:"The master that the node follows."`
	Lag         delay       `yaml:"lag" jsonschema_description:"How long after the master the replica makes each change, on top of the network."`
}

type client struct {
	Key          string       `yaml:"key" jsonschema:"minLength=1" jsonschema_description:"The name of the client's lock. Default: the lock's key."`
	Does         []trace.Task `yaml:"does" jsonschema:"maxItems=100,minItems=1" jsonschema_description:"What it does in its section, in order. Default: read x, work, write x. It can take more locks: acquire b asks for the lock b until it has it, try b once, and gives back all that it has if it is refused."`
	Starts       trace.Point  `yaml:"starts" jsonschema_description:"The point in the story at which the client begins. Default: the start of the run."`
	Sections     *int         `yaml:"sections" jsonschema:"minimum=1,maximum=1000000" jsonschema_description:"How many critical sections it completes. Default: 1."`
	Attempts     *int         `yaml:"attempts" jsonschema:"minimum=1,maximum=1000000" jsonschema_description:"How often it asks for the lock for one section before it goes without, and for each lock that it takes besides. Default: no bound."`
	RetryEvery   span         `yaml:"retry-every" jsonschema_description:"The pause between attempts. Default: 1s."`
	Retry        retry        `yaml:"retry" jsonschema_description:"How the pause between attempts changes. Default: fixed."`
	Works        delay        `yaml:"works" jsonschema_description:"How long it works between its read and its write."`
	WorksUntil   trace.Point  `yaml:"works-until" jsonschema_description:"The point in the story until which it works at least."`
	KeepsFor     span         `yaml:"keeps-for" jsonschema_description:"How long it keeps the lock at least, from the grant on, once its work is done. Default: not at all."`
	ExtendsEvery span         `yaml:"extends-every" jsonschema_description:"How often it extends the lock while it works. Default: never."`
	Cancels      trace.Point  `yaml:"cancels" jsonschema_description:"The point in the story at which, each time, it cancels the call of the lock that it is in: acquire, extend or release. Default: never."`
	CancelsAfter span         `yaml:"cancels-after" jsonschema_description:"How long it waits for a call of the lock, acquire, extend or release, before it cancels it. Default: for ever."`
	GivesUp      span         `yaml:"gives-up" jsonschema_description:"How long it waits for the storage's answer. Default: for ever."`
	IfNoAnswer   ifNoAnswer   `yaml:"if-no-answer" jsonschema_description:"resends: it sends a request to the storage again that it has given up on or whose connection was reset, and after a pause one that was refused. Default: that was its section."`
	IfRefused    ifRefused    `yaml:"if-refused" jsonschema_description:"starts-over: it acquires the lock anew when the storage refuses a request of its. Default: it releases the lock, and that was its section."`
}

type schedule struct {
	Every   span  `yaml:"every" jsonschema_description:"How long each period lasts."`
	Periods *int  `yaml:"periods" jsonschema:"minimum=1,maximum=1000" jsonschema_description:"How many periods there are. Default: 1."`
	First   delay `yaml:"first" jsonschema_description:"When the first period begins. Default: with the run."`
	// RunTwice says whether running the job twice for one period does harm.
	RunTwice runTwice `yaml:"run-twice" jsonschema_description:"harmless: it does no harm if the job is run twice for one period, and only wastes work. Default: that it does."`
}

type storageSpec struct {
	Fencing fencing  `yaml:"fencing" jsonschema_description:"What the storage checks in the run with fencing tokens. Default: writes, and in a cluster optimistic."`
	In      place    `yaml:"in" jsonschema_description:"cluster: what the clients read and write is kept in the cluster that keeps the lock, and they get at it with the lock's own client library. Default: a process of its own, the storage."`
	Reads   string   `yaml:"reads" jsonschema_description:"How they read in a cluster: linearizable or serializable in etcd, plain or synced in ZooKeeper. Default: as the client library does by itself, which is the first."`
	Client  clientOf `yaml:"client" jsonschema_description:"own: each client has another client of the cluster for its data than for its lock, on the member after that of its own number. Default: the same one."`
	CopyLag span     `yaml:"copy-lag" jsonschema_description:"How far the copy is behind that takes over after a failover. Default: not at all."`
}

type service struct {
	DropsToken bool `yaml:"drops-token" jsonschema_description:"It passes requests on without their fencing tokens."`
}

type tokens struct {
	Source tokenSource `yaml:"source" jsonschema_description:"How each grant's token is minted once the lock is acquired."`
	Nodes  []string    `yaml:"nodes" jsonschema:"minItems=1,maxItems=101,uniqueItems=true" jsonschema_description:"The Redis nodes that count tokens; those that are not the lock's own are nodes of their own. Default: the lock's nodes."`
}

type network struct {
	Latency latency `yaml:"latency" jsonschema_description:"How long a message takes one way, shortest and longest, as in 600us-1ms."`
	Paths   []route `yaml:"paths" jsonschema:"maxItems=1000" jsonschema_description:"Processes that are nearer or further apart."`
}

type route struct {
	From    string   `yaml:"from" jsonschema:"minLength=1" jsonschema_description:"A process."`
	To      []string `yaml:"to" jsonschema:"maxItems=1000,minItems=1,uniqueItems=true" jsonschema_description:"The processes that it is near to or far from."`
	Latency latency  `yaml:"latency" jsonschema_description:"How long a message takes between them, either way."`
}

type expectations struct {
	Off *expectation `yaml:"off" jsonschema_description:"The run without fencing tokens."`
	On  *expectation `yaml:"on" jsonschema_description:"The run with fencing tokens."`
	// Witnesses can only be given under expect-with.
	Witnesses []trace.Witness `yaml:"witnesses" jsonschema:"maxItems=50,uniqueItems=true" jsonschema_description:"Under expect-with: what must have happened with this lock instead of the scenario's own witnesses."`
}

type expectation struct {
	Verdict  verdict    `yaml:"verdict" jsonschema_description:"unsafe when a property of the data is violated, safe when they all hold."`
	Violated []property `yaml:"violated" jsonschema:"maxItems=50,uniqueItems=true" jsonschema_description:"Every property that is violated. One that is not listed must hold or not apply."`
	Missed   []int      `yaml:"missed" jsonschema:"maxItems=1000,uniqueItems=true" jsonschema_description:"The periods of the schedule for which the job has done nothing. One that is not listed must have been run."`
}

// A mapping is a YAML mapping from names to settings, in the order of the file.
type mapping[T any] []entry[T]

type entry[T any] struct {
	name  string
	value T
}

// clear makes the mapping empty and not nil; nil means that it was not given or could not
// be read.
func (m *mapping[T]) clear() { *m = mapping[T]{} }

// add appends a name and returns a pointer to its settings.
func (m *mapping[T]) add(name string) any {
	*m = append(*m, entry[T]{name: name})
	return &(*m)[len(*m)-1].value
}

func (m mapping[T]) names() []string {
	names := make([]string, len(m))
	for i, e := range m {
		names[i] = e.name
	}
	return names
}

// set gives a name new settings, or adds the name.
func (m *mapping[T]) set(name string, value T) {
	for i, e := range *m {
		if e.name == name {
			(*m)[i].value = value
			return
		}
	}
	*m = append(*m, entry[T]{name, value})
}

func (m mapping[T]) get(name string) (value T, ok bool) {
	for _, e := range m {
		if e.name == name {
			return e.value, true
		}
	}
	return value, false
}
