package scenarios

import "github.com/locksim/locksim/trace"

// A file is a whole scenario file. The YAML tags are the names of its fields. The
// descriptions are written into the JSON Schema.
type file struct {
	spec
	Variants mapping[spec] `yaml:"variants" jsonschema:"maxProperties=50" jsonschema_description:"Versions of the story. Each is merged into the rest of the file: mappings key by key. Everything else, also lists, is replaced."`
}

// A spec is one complete version of a scenario: a file without variants, or a file with one
// of its variants merged in.
type spec struct {
	Title          string                `yaml:"title" jsonschema:"minLength=1" jsonschema_description:"What happens, in one line."`
	Group          group                 `yaml:"group" jsonschema_description:"The group of the catalogue that the scenario belongs to."`
	Source         string                `yaml:"source" jsonschema:"minLength=1" jsonschema_description:"Where the story comes from."`
	Assumption     assumption            `yaml:"assumption" jsonschema_description:"The assumption of the lock that the fault breaks."`
	Story          string                `yaml:"story" jsonschema:"minLength=1" jsonschema_description:"What happens, in a few plain sentences."`
	Question       string                `yaml:"question" jsonschema:"minLength=1" jsonschema_description:"The question to think about before looking at what happened."`
	Why            string                `yaml:"why" jsonschema:"minLength=1" jsonschema_description:"Why it breaks, or holds, in one line for the matrix."`
	Prevention     string                `yaml:"prevention" jsonschema:"minLength=1" jsonschema_description:"What would have prevented it, in a sentence or two."`
	Says           says                  `yaml:"says" jsonschema_description:"What people who wrote about such locks say about it. Leave out the authors who wrote nothing about it."`
	Lock           lock                  `yaml:"lock" jsonschema_description:"What the clients compete for."`
	Nodes          mapping[node]         `yaml:"nodes" jsonschema:"maxProperties=500" jsonschema_description:"Settings of Redis nodes. The lock's own nodes are redis-1, redis-2 and so on. Every other node is a replica, or is listed under tokens."`
	Servers        []string              `yaml:"servers" jsonschema:"maxItems=20,uniqueItems=true" jsonschema_description:"Settings of the lock's servers that differ from the default, each NAME=VALUE. In a variant, an empty list removes those of the file."`
	Clients        mapping[client]       `yaml:"clients" jsonschema:"maxProperties=1000" jsonschema_description:"The clients. Each acquires the lock, reads the resource, works, writes, releases. client-1 to client-10 means ten clients that do the same."`
	Services       mapping[service]      `yaml:"services" jsonschema:"maxProperties=100" jsonschema_description:"Processes that forward requests to the storage."`
	Schedule       schedule              `yaml:"schedule" jsonschema_description:"When the clients' job is due. With a schedule, each client has one section in each period."`
	Tokens         tokens                `yaml:"tokens" jsonschema_description:"Where fencing tokens come from. Default: the tokens that a perfect lock service would issue, or the lock's own."`
	Storage        storageSpec           `yaml:"storage" jsonschema_description:"The protected resource."`
	Network        network               `yaml:"network" jsonschema_description:"The network between all processes."`
	Faults         []fault               `yaml:"faults" jsonschema:"maxItems=1000" jsonschema_description:"What goes wrong, and when."`
	Horizon        span                  `yaml:"horizon" jsonschema_description:"The run is cut off at this time. Default: 5m."`
	ProgressWithin span                  `yaml:"progress-within" jsonschema_description:"How soon after the last fault a client must have completed a section. Default: before the horizon."`
	Unscripted     bool                  `yaml:"unscripted" jsonschema_description:"true: the run need not follow the story. A client that does not start and a fault that does not act leave no doubt about the verdict."`
	Witnesses      []trace.Witness       `yaml:"witnesses" jsonschema:"maxItems=200" jsonschema_description:"What must have happened in a run for its verdict to mean anything."`
	Measures       []measure             `yaml:"measures" jsonschema:"maxItems=50,minItems=1,uniqueItems=true" jsonschema_description:"The measures in the report: how long, how much and how often."`
	Expect         expectations          `yaml:"expect" jsonschema_description:"The expected result of each run."`
	ExpectWith     mapping[expectations] `yaml:"expect-with" jsonschema:"maxProperties=100" jsonschema_description:"The expected results with other locks, by the kind of lock."`
	Lesson         string                `yaml:"lesson" jsonschema:"minLength=1" jsonschema_description:"What to learn from it, in two or three sentences that you could say in an interview."`
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
	Expects     span      `yaml:"expects" jsonschema_description:"How long sections are expected to take, for a lock that chooses its TTL by it. Default: not known."`
	Failures    int       `yaml:"failures" jsonschema:"minimum=1,maximum=1000" jsonschema_description:"After how many consecutive failures a circuit breaker opens, and sends no more requests to Redis. Default: 5."`
	OpenFor     span      `yaml:"open-for" jsonschema_description:"How long a circuit breaker stays open. Default: 60s."`
	Fallback    fallback  `yaml:"fallback" jsonschema_description:"What a circuit breaker does while Redis cannot be reached."`
	Holders     int       `yaml:"holders" jsonschema:"minimum=1,maximum=1000" jsonschema_description:"How many clients may hold the lock at the same time. Default: 1."`
	Without     []feature `yaml:"without" jsonschema:"maxItems=50,uniqueItems=true" jsonschema_description:"The lock's features that are turned off."`
}

type node struct {
	Persistence persistence `yaml:"persistence" jsonschema_description:"What survives a crash. Default: none."`
	ReplicaOf   string      `yaml:"replica-of" jsonschema:"minLength=1" jsonschema_description:"The master that the node follows."`
	Lag         delay       `yaml:"lag" jsonschema_description:"How long the replica takes to make each change of the master, in addition to the latency of the network."`
}

type client struct {
	Key          string       `yaml:"key" jsonschema:"minLength=1" jsonschema_description:"The name of the client's lock. Default: the lock's key."`
	Does         []trace.Task `yaml:"does" jsonschema:"maxItems=100,minItems=1" jsonschema_description:"What the client does in its section, in order. Default: read x, work, write x. It can acquire more locks: acquire b retries until it has the lock b; try b tries once, and releases all its locks if it fails."`
	Starts       trace.Point  `yaml:"starts" jsonschema_description:"The point at which the client starts. Default: the start of the run."`
	Sections     *int         `yaml:"sections" jsonschema:"minimum=1,maximum=1000000" jsonschema_description:"How many critical sections the client completes. Default: 1."`
	Attempts     *int         `yaml:"attempts" jsonschema:"minimum=1,maximum=1000000" jsonschema_description:"How often the client tries to acquire the lock for one section before it skips the section; also for each additional lock. Default: no limit."`
	RetryEvery   span         `yaml:"retry-every" jsonschema_description:"The time between two attempts. Default: 1s."`
	Retry        retry        `yaml:"retry" jsonschema_description:"How the time between attempts changes. Default: fixed."`
	Works        delay        `yaml:"works" jsonschema_description:"How long the client works between its read and its write."`
	WorksUntil   trace.Point  `yaml:"works-until" jsonschema_description:"The point until which the client works at least."`
	KeepsFor     span         `yaml:"keeps-for" jsonschema_description:"The shortest time from the grant to the release: a client that finishes its work sooner keeps the lock until then. Default: 0."`
	ExtendsEvery span         `yaml:"extends-every" jsonschema_description:"How often the client extends the lock while it works. Default: never."`
	Cancels      trace.Point  `yaml:"cancels" jsonschema_description:"The point at which the client cancels its running call of the lock: acquire, extend or release. It does so each time. Default: never."`
	CancelsAfter span         `yaml:"cancels-after" jsonschema_description:"How long the client waits for a call of the lock (acquire, extend or release) before it cancels the call. Default: for ever."`
	GivesUp      span         `yaml:"gives-up" jsonschema_description:"How long the client waits for an answer of the storage. Default: for ever."`
	IfNoAnswer   ifNoAnswer   `yaml:"if-no-answer" jsonschema_description:"resends: the client sends a request to the storage again if it gets no answer in time or its connection is reset, and, after a pause, if its connection is refused. Default: the section ends."`
	IfRefused    ifRefused    `yaml:"if-refused" jsonschema_description:"starts-over: the client acquires the lock again when the storage refuses one of its requests. Default: the client releases the lock, and the section ends."`
}

type schedule struct {
	Every   span  `yaml:"every" jsonschema_description:"How long each period lasts."`
	Periods *int  `yaml:"periods" jsonschema:"minimum=1,maximum=1000" jsonschema_description:"How many periods there are. Default: 1."`
	First   delay `yaml:"first" jsonschema_description:"When the first period begins. Default: at the start of the run."`
	// RunTwice says whether it does harm to run the job twice for one period.
	RunTwice runTwice `yaml:"run-twice" jsonschema_description:"harmless: running the job twice for one period only wastes work. Default: it does harm."`
}

type storageSpec struct {
	Fencing fencing  `yaml:"fencing" jsonschema_description:"What the storage checks in the run with fencing tokens. Default: writes, and in a cluster optimistic."`
	In      place    `yaml:"in" jsonschema_description:"cluster: the data is in the cluster that keeps the lock, and the clients access it with the lock's own client library. Default: the data is in a process of its own, the storage."`
	Reads   string   `yaml:"reads" jsonschema_description:"How clients read in a cluster: linearizable or serializable in etcd, plain or synced in ZooKeeper. Default: the client library's own default, which is the first of the two."`
	Client  clientOf `yaml:"client" jsonschema_description:"own: each client uses a second client of the cluster for its data, on the member after the one with its own number. Default: the client that its lock uses."`
	CopyLag span     `yaml:"copy-lag" jsonschema_description:"How far the copy that takes over after a failover is behind. Default: 0."`
}

type service struct {
	DropsToken bool `yaml:"drops-token" jsonschema_description:"It forwards requests without their fencing tokens."`
}

type tokens struct {
	Source tokenSource `yaml:"source" jsonschema_description:"How each grant's token is minted once the lock is acquired."`
	Nodes  []string    `yaml:"nodes" jsonschema:"minItems=1,maxItems=101,uniqueItems=true" jsonschema_description:"The Redis nodes that count tokens. Names that are not nodes of the lock make additional nodes. Default: the lock's nodes."`
}

type network struct {
	Latency latency `yaml:"latency" jsonschema_description:"How long a message takes one way, shortest and longest, as in 600us-1ms."`
	Paths   []route `yaml:"paths" jsonschema:"maxItems=1000" jsonschema_description:"Processes with another latency between them."`
}

type route struct {
	From    string   `yaml:"from" jsonschema:"minLength=1" jsonschema_description:"A process."`
	To      []string `yaml:"to" jsonschema:"maxItems=1000,minItems=1,uniqueItems=true" jsonschema_description:"The processes at the other end."`
	Latency latency  `yaml:"latency" jsonschema_description:"How long a message takes between them, in either direction."`
}

type expectations struct {
	Off *expectation `yaml:"off" jsonschema_description:"The run without fencing tokens."`
	On  *expectation `yaml:"on" jsonschema_description:"The run with fencing tokens."`
	// Witnesses can be given only under expect-with.
	Witnesses []trace.Witness `yaml:"witnesses" jsonschema:"maxItems=50,uniqueItems=true" jsonschema_description:"Under expect-with: what must have happened with this lock instead of the scenario's own witnesses."`
}

type expectation struct {
	Verdict  verdict    `yaml:"verdict" jsonschema_description:"unsafe when a property of the data is violated, safe when they all hold."`
	Violated []property `yaml:"violated" jsonschema:"maxItems=50,uniqueItems=true" jsonschema_description:"All properties that are violated. Properties that are not listed must hold or not apply."`
	Missed   []int      `yaml:"missed" jsonschema:"maxItems=1000,uniqueItems=true" jsonschema_description:"The periods of the schedule for which the job has done nothing. In all other periods it must have run."`
}

// A mapping is a YAML mapping from names to settings, in the order of the file.
type mapping[T any] []entry[T]

type entry[T any] struct {
	name  string
	value T
}

// clear makes the mapping empty and not nil, because nil means that the field is missing or
// could not be read.
func (m *mapping[T]) clear() { *m = mapping[T]{} }

// add appends a name, and returns a pointer to the settings that belong to it.
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

// set sets the settings under name, and adds the name if necessary.
func (m *mapping[T]) set(name string, value T) {
	for i, e := range *m {
		if e.name == name {
			(*m)[i].value = value
			return
		}
	}
	*m = append(*m, entry[T]{name, value})
}

// get returns the settings under name; false if the mapping does not have the name.
func (m mapping[T]) get(name string) (value T, ok bool) {
	for _, e := range m {
		if e.name == name {
			return e.value, true
		}
	}
	return value, false
}
