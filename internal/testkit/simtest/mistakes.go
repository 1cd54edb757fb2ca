package simtest

import (
	"fmt"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/sim"
)

// GoodScenario is a scenario file without a mistake. Spoil changes it in one place.
const GoodScenario = `title: t
lock: {kind: redlock, ttl: 30s}
clients:
  client-1: {}
  client-2: {starts: client-1's keys expired}
faults:
  - before: client-1 write
    pause: client-1
    until: client-2 released
witnesses:
  - client-1's keys expired while client-1 was paused
expect:
  off: {verdict: unsafe, violated: [write-order]}
  on: {verdict: safe}
`

// These are the lists of known fields and verbs in error messages.
const (
	fields = "title, group, source, assumption, story, question, why, prevention, says, lock, nodes, servers, clients, services, schedule, tokens, storage, network, faults, horizon, progress-within, unscripted, witnesses, measures, expect, expect-with, lesson"
	verbs  = "asked, acquired, failed to acquire, minted, marked, read, worked, checked, wrote, extended, released, cancelled, was refused, gave up, finished, paused, resumed, crashed, restarted, synced, was promoted, became leader, compacted, was notified, holds NODE"
	owned  = "keys expired, key expired on NODE, session expired, clock jumped"
)

// Mistake is a scenario file with one mistake, and the error message for it.
type Mistake struct {
	Name string
	// New replaces Old in GoodScenario; if Old is empty, New is the whole file.
	Old, New string
	// Want is the text of the error that scenarios.Parse returns for a file called x.yaml.
	Want string
	// Schema means that the JSON Schema, with which editors check a file, detects the
	// mistake too.
	Schema bool
}

// Text returns the file.
func (m Mistake) Text() string { return Spoil(m.Old, m.New) }

// Spoil returns GoodScenario with old replaced by new, or new if old is empty. It panics if
// GoodScenario does not contain old.
func Spoil(old, new string) string {
	if old == "" {
		return new
	}
	if !strings.Contains(GoodScenario, old) {
		panic(fmt.Sprintf("the good file does not contain %q", old))
	}
	return strings.Replace(GoodScenario, old, new, 1)
}

// Mistakes are scenario files with one mistake each. The parser must report each of them.
var Mistakes = []Mistake{
	// Files that are not scenarios at all.
	{"empty", "", " \n", `x.yaml: the file is empty; a scenario begins with title:`, false},
	{"comments only", "", "# nothing\n", `x.yaml: the file contains only comments; a scenario begins with title:`, false},
	{"a list", "", "- a\n- b\n", `x.yaml:1: a scenario is a mapping of fields, but this is a list; it begins with title:`, true},
	{"a word", "", "hello\n", `x.yaml:1: a scenario is a mapping of fields, but this is the text "hello"; it begins with title:`, true},
	{"NUL", "", "title: a\nstory: b\x00\n", `x.yaml:2: there is a control character (U+0000) in the text; is this the right file?`, false},
	{"binary", "", "\x7fELF\x02\x01", `x.yaml:1: there is a control character (U+007F) in the text; is this the right file?`, false},
	{"Latin-1", "", "title: a\nsource: caf\xe9\n", `x.yaml:2: this is not UTF-8 text; is this the right file?`, false},
	{"UTF-16", "", "\xff\xfet\x00", `x.yaml:1: this is not UTF-8 text; is this the right file?`, false},
	{"huge", "", strings.Repeat("# a comment\n", (1<<20)/12+1), `x.yaml: the file has 1048584 bytes, and a scenario has at most 1048576; is this the right file?`, false},
	{"two documents", "expect:", "---\nexpect:", `x.yaml:12: a second document begins here, and a scenario file contains one; give each scenario its own file`, false},
	{"deep", "title: t", "title: " + strings.Repeat("[", 20) + strings.Repeat("]", 20), `x.yaml:1: title[1][1][1][1][1][1][1][1][1][1][1][1][1][1][1]: nested more than 16 levels deep; is this the right file?`, true},
	{"very deep", "", strings.Repeat("[", 20000), `x.yaml:1: this is not YAML: nested too deeply; is this the right file?`, false},

	// Files that are not YAML, or use features of YAML that no scenario needs.
	{"tab", "  client-1: {}", "\tclient-1: {}", `x.yaml:4: this is not YAML: a tab in the indentation; YAML is indented with spaces`, false},
	{"tab below a comment", "title: t\n", "# a comment\ntitle: t\n\tgroup: debate\n", `x.yaml:3: this is not YAML: a tab in the indentation; YAML is indented with spaces`, false},
	{"unclosed bracket", "[write-order]", "[write-order", `x.yaml:13: this is not YAML: did not find expected ',' or ']'; check the indentation, and that quotes and brackets are closed`, false},
	{"stray list item", "expect:\n", "- x\nexpect:\n", `x.yaml:12: this is not YAML: did not find expected key; check the indentation, and that quotes and brackets are closed`, false},
	{"stray list item below a comment", "", "# one\n# two\n" + strings.Replace(GoodScenario, "expect:\n", "- x\nexpect:\n", 1), `x.yaml:14: this is not YAML: did not find expected key; check the indentation, and that quotes and brackets are closed`, false},
	{"colon in a value", "title: t", "title: locks: a story", `x.yaml:1: this is not YAML: a ": " in the middle of a value; put the value in quotes, or check the indentation`, false},
	{"at sign", "title: t", "title: @t", `x.yaml:1: this is not YAML: a value cannot begin like this; put text that begins with a special character in quotes`, false},
	{"same field twice", "expect:", "title: again\nexpect:", `x.yaml:12: title: the field appears twice; the first is on line 1`, false},
	{"two clients of one name", "client-2: {starts", "client-1: {starts", `x.yaml:5: clients.client-1: the field appears twice; the first is on line 4`, false},
	{"a client among several of its name", "client-2: {starts", "client-1 to client-3: {starts", `x.yaml:5: clients.client-1 to client-3: "client-1" appears twice; the first is on line 4`, false},
	{"several clients backwards", "client-2: {starts", "client-3 to client-2: {starts", `x.yaml:5: clients.client-3 to client-2: "client-3 to client-2" is not a range of clients; write a range as "client-1 to client-10"`, false},
	{"several clients of two names", "client-2: {starts", "client-2 to worker-3: {starts", `x.yaml:5: clients.client-2 to worker-3: "client-2 to worker-3" is not a range of clients; write a range as "client-1 to client-10"`, false},
	{"too many clients in one line", "client-2: {starts", "client-2 to client-9999999999999999999: {starts", `x.yaml:5: clients.client-2 to client-9999999999999999999: "client-2 to client-9999999999999999999" is not a range of clients; write a range as "client-1 to client-10"`, false},
	{"more clients in one line than there can be", "client-2: {starts", "client-2 to client-1001: {starts", `x.yaml:5: clients.client-2 to client-1001: with these there are 1001 clients, and there can be at most 1000`, false},
	{"two nodes of one name", "clients:", "nodes:\n  redis-1: {}\n  redis-1: {}\nclients:", `x.yaml:5: nodes.redis-1: the field appears twice; the first is on line 4`, false},
	{"two variants of one name", "clients:", "variants:\n  a: {}\n  a: {}\nclients:", `x.yaml:5: variants.a: the field appears twice; the first is on line 4`, false},
	{"anchor", "client-1: {}", "client-1: &a {}", `x.yaml:4: clients.client-1: an anchor (&a), and scenario files have none; write the value out where it is needed`, false},
	{"alias of nothing", "client-1: {}", "client-1: *a", `x.yaml:1: this is not YAML: an alias, and scenario files have none; write the value out`, false},
	{"laughs", "", "a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n", "" +
		"x.yaml:1: a: an anchor (&a), and scenario files have none; write the value out where it is needed\n" +
		"x.yaml:2: b: an anchor (&b), and scenario files have none; write the value out where it is needed\n" +
		"x.yaml:2: b[1]: an alias (*a), and scenario files have none; write the value out\n" +
		"x.yaml:2: b[2]: an alias (*a), and scenario files have none; write the value out\n" +
		"x.yaml:3: c[1]: an alias (*b), and scenario files have none; write the value out\n" +
		"x.yaml:3: c[2]: an alias (*b), and scenario files have none; write the value out", false},
	{"merge key", "client-1: {}", "client-1: {<<: {works: 1s}}", `x.yaml:4: clients.client-1.<<: a merge key (<<), and scenario files have none; write the fields out`, false},
	{"tag", "client-1: {}", "client-1: !!map {}", `x.yaml:4: clients.client-1: a tag (!!map), and scenario files have none; leave the tag out`, false},
	{"custom tag", "title: t", "title: !x t", `x.yaml:1: title: a tag (!x), and scenario files have none; leave the tag out`, false},
	{"list as a key", "client-1: {}", "? [client-1]\n  : {}", `x.yaml:4: clients: a field's name must be a single word`, false},

	// Fields and types.
	{"unknown field", "title: t", "title: t\nauthor: me", `x.yaml:2: author: there is no such field; known here: ` + fields, true},
	{"mistyped field", "faults:", "fault:", `x.yaml:6: fault: there is no such field; did you mean "faults"?`, true},
	{"mistyped field of a client", "{starts:", "{start:", `x.yaml:5: clients.client-2.start: there is no such field; did you mean "starts"?`, true},
	{"a point with a comma", "starts: client-1's keys expired", "starts: client-1's keys expired, 2nd time", `x.yaml:5: clients.client-2.2nd time: the comma before it ends the value; between braces, put a point with a comma in quotes, as in "client-1 write, 2nd time"`, true},
	{"underscore", "ttl: 30s}", "ttl: 30s, node_timeout: 50ms}", `x.yaml:2: lock.node_timeout: there is no such field; did you mean "node-timeout"?`, true},
	{"title missing", "title: t\n", "", `x.yaml:1: title: it is missing; every scenario needs it`, true},
	{"clients missing", "clients:\n  client-1: {}\n  client-2: {starts: client-1's keys expired}\n", "", `x.yaml:1: clients: it is missing; every scenario needs it`, true},
	{"lock missing", "lock: {kind: redlock, ttl: 30s}\n", "", `x.yaml:1: lock: it is missing; every scenario needs it`, true},
	{"ttl missing", ", ttl: 30s", "", `x.yaml:2: lock.ttl: it is missing; every scenario needs it`, true},
	{"kind missing", "kind: redlock, ", "", `x.yaml:2: lock.kind: it is missing; every scenario needs it`, true},
	{"no clients", "\n  client-1: {}\n  client-2: {starts: client-1's keys expired}\n", " {}\n", `x.yaml:3: clients: there must be at least one client; write client-1: {}`, true},
	{"empty client", "client-1: {}", "client-1:", `x.yaml:4: clients.client-1: it is empty; give it a value or leave it out; to keep all defaults, write {}`, true},
	{"empty title", "title: t", "title: ''", `x.yaml:1: title: it is empty; give it a value or leave it out`, true},
	{"number as a title", "title: t", "title: 2016", `x.yaml:1: title: expected text, but it is the number "2016"; put it in quotes`, true},
	{"mapping as a title", "title: t", "title: {a: b}", `x.yaml:1: title: expected text, but it is a mapping`, true},
	{"list of clients", "client-1: {}\n  client-2: {starts: client-1's keys expired}", "- client-1\n  - client-2", `x.yaml:4: clients: expected a mapping of names, but it is a list`, true},
	{"word as a client", "client-1: {}", "client-1: yes", `x.yaml:4: clients.client-1: expected a mapping of fields, but it is the text "yes"`, true},
	{"mapping of faults", "\n  - before: client-1 write\n    pause: client-1\n    until: client-2 released", "\n  pause: client-1", `x.yaml:7: faults: expected a list, but it is a mapping`, true},
	{"word as a fault", "- before: client-1 write\n    pause: client-1\n    until: client-2 released", "- pause client-1", `x.yaml:7: faults[1]: expected a fault: a mapping, but it is the text "pause client-1"`, true},
	{"words as a number", "ttl: 30s}", "ttl: 30s, nodes: five}", `x.yaml:2: lock.nodes: expected a whole number, but it is the text "five"`, true},
	{"too many nodes for a number", "ttl: 30s}", "ttl: 30s, nodes: 99999999999999999999}", `x.yaml:2: lock.nodes: the number "99999999999999999999" is too large`, true},
	{"half a node", "ttl: 30s}", "ttl: 30s, nodes: 2.5}", `x.yaml:2: lock.nodes: expected a whole number, but it is the number "2.5"`, true},

	// Words.
	{"lock", "redlock", "redlok", `x.yaml:2: lock.kind: "redlok" is not known here; did you mean "redlock"?`, true},
	{"group", "title: t", "title: t\ngroup: debates", `x.yaml:2: group: "debates" is not known here; did you mean "debate"?`, true},
	{"assumption", "title: t", "title: t\nassumption: luck", `x.yaml:2: assumption: "luck" is not known here; known here: process, network, clock, storage memory, lock memory, none`, true},
	{"verdict", "verdict: unsafe", "verdict: maybe", `x.yaml:13: expect.off.verdict: "maybe" is not known here; known here: safe, unsafe`, true},
	{"property", "[write-order]", "[write-ordr]", `x.yaml:13: expect.off.violated[1]: "write-ordr" is not known here; did you mean "write-order"?`, true},
	{"run", "  on:", "  onn:", `x.yaml:14: expect.onn: there is no such field; did you mean "on"?`, true},
	{"setting of servers", "clients:", "servers: [maxmemory=1]\nclients:", `x.yaml:3: servers: a Redis node has no setting "maxmemory": it has min-replicas-to-write, min-replicas-max-lag`, false},
	{"setting without a value", "clients:", "servers: [maxmemory]\nclients:", `x.yaml:3: servers: "maxmemory" is not a setting; write NAME=VALUE`, false},
	{"persistence", "clients:", "nodes: {redis-1: {persistence: aof}}\nclients:", `x.yaml:3: nodes.redis-1.persistence: "aof" is not known here; known here: none, snapshots, everysec, always`, true},
	{"fencing", "clients:", "storage: {fencing: reads}\nclients:", `x.yaml:3: storage.fencing: "reads" is not known here; did you mean "reads-and-writes"?`, true},
	{"ask", "ttl: 30s}", "ttl: 30s, ask: parallel}", `x.yaml:2: lock.ask: "parallel" is not known here; known here: one-by-one, all-at-once`, true},
	{"feature", "ttl: 30s}", "ttl: 30s, without: [elapsed-chek]}", `x.yaml:2: lock.without[1]: "elapsed-chek" is not known here; did you mean "elapsed-check"?`, true},
	{"no periods", "clients:", "schedule: {periods: 2}\nclients:", `x.yaml:3: schedule.every: it is missing; add it, or leave schedule out`, false},
	{"too many periods", "clients:", "schedule: {every: 60s, periods: 1001}\nclients:", `x.yaml:3: schedule.periods: there cannot be 1001 periods; there are 1 to 1000`, true},
	{"a period after the end", "clients:", "schedule: {every: 60s, periods: 6}\nclients:", `x.yaml:3: schedule: the run ends at 5m0s, before the last period begins at 5m0s; give a longer horizon, or fewer periods`, false},
	{"nothing to recall", "client-1: {}", "client-1: {does: [recall, write x]}", `x.yaml:4: clients.client-1.does[1]: there is no period to recall: the scenario has no schedule; set under schedule when the job is due, or leave the step out`, false},
	{"sections of a job", "clients:\n  client-1: {}", "schedule: {every: 60s}\nclients:\n  client-1: {sections: 2}", `x.yaml:5: clients.client-1.sections: with a schedule a client has one section in each period; leave it out, and set the number of periods with schedule.periods`, false},
	{"the record by its name", "clients:\n  client-1: {}", "schedule: {every: 60s}\nclients:\n  client-1: {does: [write runs]}", `x.yaml:5: clients.client-1.does[1]: "runs" is the object in which periods are recorded; write recall, remember or claim, or name another object`, false},
	{"a period that there is not", "violated: [write-order]", "violated: [write-order], missed: [1]", `x.yaml:13: expect.off.missed[1]: there is no period 1; the schedule has 0`, false},
	{"a lock that it has", "client-1: {}", "client-1: {key: a, does: [acquire a, write x]}", `x.yaml:4: clients.client-1.does[1]: client-1 would acquire a, but it holds a already, and would wait for itself; let it acquire another lock`, false},
	{"a lock that it has taken", "clients:\n  client-1: {}", "storage: {fencing: per-shard}\nclients:\n  client-1: {key: a, does: [acquire b, try b, write x]}", `x.yaml:5: clients.client-1.does[2]: client-1 would try b, but it holds b already, and would wait for itself; let it acquire another lock`, false},
	{"tokens of two locks", "client-1: {}", "client-1: {does: [acquire b, write x]}", `x.yaml:4: clients.client-1.does[1]: client-1 acquires several locks, whose fencing tokens cannot be compared with each other, but a storage with the policy writes compares all of them; choose per-shard, and give each lock the name of the object that it guards`, false},
	{"more locks than anybody holds", "clients:\n  client-1: {}", "storage: {fencing: per-shard}\nclients:\n  client-1: {does: [acquire b, acquire c, acquire d, acquire e, acquire f, acquire g, acquire h, acquire i, acquire j]}", `x.yaml:5: clients.client-1.does[9]: client-1 would acquire more than 8 locks in addition to its own; let it acquire fewer`, false},
	{"several locks for a period", "clients:\n  client-1: {}", "schedule: {every: 60s}\nclients:\n  client-1: {does: [acquire b, remember]}", `x.yaml:5: clients.client-1.does[1]: client-1 acquires several locks, but with a schedule a client acquires one lock in each period; leave the schedule out`, false},
	{"a lock of no name", "client-1: {}", "client-1: {does: [acquire]}", `x.yaml:4: clients.client-1.does[1]: "acquire" is not a task: write work, check, mint, release-again, one of recall, remember and claim, acquire or try with a lock, such as "acquire b", or one of read, mark and write with an object, such as "write x" or "write x via proxy"`, false},
	{"a task", "client-1: {}", "client-1: {does: [reed x]}", `x.yaml:4: clients.client-1.does[1]: "reed x" is not a task: write work, check, mint, release-again, one of recall, remember and claim, acquire or try with a lock, such as "acquire b", or one of read, mark and write with an object, such as "write x" or "write x via proxy"`, false},

	// Durations and numbers.
	{"no unit", "ttl: 30s", "ttl: 30", `x.yaml:2: lock.ttl: "30" has no unit; did you mean "30s"?`, true},
	{"no unit, in quotes", "ttl: 30s", "ttl: '30'", `x.yaml:2: lock.ttl: "30" has no unit; did you mean "30s"?`, true},
	{"days", "ttl: 30s", "ttl: 30d", `x.yaml:2: lock.ttl: "30d" is not a duration; write a number and a unit (ns, us, ms, s, m, h), as in "500ms" or "1m30s"`, true},
	{"negative", "ttl: 30s", "ttl: -30s", `x.yaml:2: lock.ttl: -30s is not a positive duration; give a duration longer than zero, or leave the field out`, true},
	{"zero", "ttl: 30s", "ttl: 0s", `x.yaml:2: lock.ttl: 0s is not a positive duration; give a duration longer than zero, or leave the field out`, true},
	{"zero without unit", "ttl: 30s", "ttl: 0", `x.yaml:2: lock.ttl: "0" has no unit; write a number and a unit, as in "500ms"`, true},
	{"absurd", "ttl: 30s", "ttl: 9000h", `x.yaml:2: lock.ttl: 9000h is longer than a year; check the unit`, false},
	{"overflow", "ttl: 30s", "ttl: 99999999999999999999h", `x.yaml:2: lock.ttl: 99999999999999999999h is longer than a year; check the unit`, false},
	{"list as a duration", "ttl: 30s", "ttl: [30s]", `x.yaml:2: lock.ttl: expected text, but it is a list`, true},
	{"negative work", "client-1: {}", "client-1: {works: -1s}", `x.yaml:4: clients.client-1.works: -1s is negative; give a duration of zero or more`, true},
	{"ttl below a round trip", "ttl: 30s", "ttl: 1ms", `x.yaml:2: lock.ttl: a lock with a TTL of 1ms expires before the fastest reply, which takes 1.2ms; give a longer ttl, or a shorter network.latency`, false},
	{"latency backwards", "clients:", "network: {latency: 2ms-1ms}\nclients:", `x.yaml:3: network.latency: the longest latency, 1ms, is below the shortest, 2ms; did you mean "1ms-2ms"?`, false},
	{"latency of zero", "clients:", "network: {latency: 0s}\nclients:", `x.yaml:3: network.latency: a message cannot arrive at the moment it is sent; give a latency longer than zero`, false},
	{"latency without unit", "clients:", "network: {latency: 1-2}\nclients:", `x.yaml:3: network.latency: "1" has no unit; write the shortest and the longest latency, as in "600us-1ms"`, true},
	{"no nodes", "ttl: 30s}", "ttl: 30s, nodes: 0}", `x.yaml:2: lock.nodes: a lock cannot have 0 nodes; it has 1 to 101`, true},
	{"absurdly many nodes", "ttl: 30s}", "ttl: 30s, nodes: 1000000000}", `x.yaml:2: lock.nodes: a lock cannot have 1000000000 nodes; it has 1 to 101`, true},
	{"no sections", "client-1: {}", "client-1: {sections: 0}", `x.yaml:4: clients.client-1.sections: it cannot be 0; it is 1 to 1000000`, true},
	{"no attempts", "client-1: {}", "client-1: {attempts: -1}", `x.yaml:4: clients.client-1.attempts: it cannot be -1; it is 1 to 1000000`, true},

	// Names.
	{"name", "client-1: {}", "Client_1: {}\n  client-1: {}", `x.yaml:4: clients.Client_1: "Client_1" is not a name; a name is lower-case letters, digits and single dashes, as in client-1`, true},
	{"number as a name", "client-1: {}", "client-1: {}\n  3: {}", `x.yaml:5: clients.3: "3" is not a name; a name is lower-case letters, digits and single dashes, as in client-1`, true},
	{"reserved name", "client-1: {}", "client-1: {}\n  storage: {}", `x.yaml:5: clients.storage: "storage" is a reserved word, so it cannot be a name; a name is lower-case letters, digits and single dashes, as in client-1`, false},
	{"client called like a node", "client-1: {}", "client-1: {}\n  redis-1: {}", `x.yaml:5: clients.redis-1: a node is already called that; give the client another name`, false},
	{"client in a point", "{starts: client-1's", "{starts: client-9's", `x.yaml:5: clients.client-2.starts: no client is called "client-9"; did you mean "client-1"?`, false},
	{"client in a step", "before: client-1 write", "before: cleint-1 write", `x.yaml:7: faults[1].before: no client is called "cleint-1"; did you mean "client-1"?`, false},
	{"node that cannot do it", "until: client-2 released", "until: redis-1 released", `x.yaml:9: faults[1].until: "redis-1 released" can never happen: redis-1 is not a client`, false},
	{"node in a step", "before: client-1 write", "before: redis-1 write", `x.yaml:7: faults[1].before: no client is called "redis-1"; known here: client-1, client-2`, false},
	{"too many clients", "client-1: {}", "client-1: {}" + clients(1001), `x.yaml:3: clients: there are 1003 entries, and there can be at most 1000; leave 3 out`, true},
	{"client in an end", "until: client-2", "until: client-3", `x.yaml:9: faults[1].until: no client is called "client-3"; did you mean "client-1"?`, false},
	{"clients that wait for each other", "client-1: {}", "client-1: {starts: client-2 released}", `x.yaml:4: clients.client-1.starts: client-1 never starts, because each of client-1, client-2 waits for one of these; start one of them at another point
x.yaml:5: clients.client-2.starts: client-2 never starts, because each of client-1, client-2 waits for one of these; start one of them at another point`, false},
	{"client that waits for itself", "{starts: client-1's", "{starts: client-2's", `x.yaml:5: clients.client-2.starts: client-2 waits for itself and never starts; start it at a point of another process`, false},
	{"node beyond the lock's", "clients:", "nodes: {redis-6: {}}\nclients:", `x.yaml:3: nodes.redis-6: the lock has no node of this name, and it is neither a replica nor a node that counts tokens; the lock's nodes are redis-1 to redis-5; a replica needs replica-of, and a node that counts tokens must be listed under tokens.nodes`, false},
	{"replica of nobody", "clients:", "nodes: {redis-6: {replica-of: redis-9}}\nclients:", `x.yaml:3: nodes.redis-6.replica-of: no node is called "redis-9"; did you mean "redis-1"?`, false},
	{"replicas in a circle", "clients:", "nodes: {redis-6: {replica-of: redis-7}, redis-7: {replica-of: redis-6}}\nclients:", "" +
		"x.yaml:3: nodes.redis-6.replica-of: \"redis-7\" is not a master; a replica follows one of the lock's own nodes\n" +
		"x.yaml:3: nodes.redis-7.replica-of: \"redis-6\" is not a master; a replica follows one of the lock's own nodes", false},
	{"replica of itself", "clients:", "nodes: {redis-6: {replica-of: redis-6}}\nclients:", `x.yaml:3: nodes.redis-6.replica-of: "redis-6" is not a master; a replica follows one of the lock's own nodes`, false},
	{"master as a replica", "clients:", "nodes: {redis-2: {replica-of: redis-1}}\nclients:", `x.yaml:3: nodes.redis-2.replica-of: redis-2 is one of the lock's own nodes, so it cannot be a replica; give the replica another name`, false},
	{"lag of a master", "clients:", "nodes: {redis-2: {lag: 1s}}\nclients:", `x.yaml:3: nodes.redis-2.lag: only a replica has a lag; leave it out`, false},
	{"setting of another lock", "{kind: redlock, ttl: 30s}", "{kind: redsync, ttl: 30s, clock: wall}", `x.yaml:2: lock.clock: the lock redsync has no such setting; leave it out`, false},

	// Faults.
	{"a fifth drift of one process", "faults:\n", "faults:\n" + strings.Repeat("  - {at: 1s, drift: redis-1, rate: +1%}\n", 4) + "  - {at: 1s, drift: redis-2, rate: +1%}\n  - {at: 2s, drift: redis-1, rate: +1%}\n",
		`x.yaml:12: faults[6]: redis-1 has more than 4 drifts, which multiply if they act at the same time; remove some`, false},
	{"no kind of fault", "    pause: client-1\n", "", `x.yaml:7: faults[1]: no fault is named here; known here: ` + strings.Join(FaultKinds(), ", "), true},
	{"mistyped kind of fault", "    pause:", "    puase:", `x.yaml:7: faults[1]: no fault is named here; did you mean "pause"?`, true},
	{"two kinds of fault", "    pause: client-1\n", "    pause: client-1\n    crash: redis-1\n", `x.yaml:7: faults[1]: "crash" and "pause" are two faults; make them two items of the list`, true},
	{"unknown field of a fault", "    pause: client-1\n", "    pause: client-1\n    untl: client-2 released\n", `x.yaml:9: faults[1].untl: there is no such field; did you mean "until"?`, true},
	{"two triggers", "    pause: client-1\n", "    pause: client-1\n    at: 5s\n", `x.yaml:7: faults[1]: "at" and "before" both say when it strikes; keep one of them`, true},
	{"two ends", "    pause: client-1\n", "    pause: client-1\n    for: 5s\n", `x.yaml:7: faults[1]: "until" and "for" both say when it ends; keep one of them`, true},
	{"end of an instant", "    pause: client-1\n", "    jump: redis-1\n    by: 1s\n", `x.yaml:7: faults[1]: a jump happens in an instant, so it has no end; leave "until" and "for" out`, true},
	{"fault after the end of the run", "before: client-1 write", "at: 10m", `x.yaml:7: faults[1].at: the run ends at 5m0s, before the fault strikes; give a longer horizon`, false},
	{"process of a fault", "pause: client-1", "pause: client-11", `x.yaml:8: faults[1].pause: no process is called "client-11"; did you mean "client-1"?`, false},
	{"way to pause", "pause: client-1", "pause: client-1\n    mode: nap", `x.yaml:9: faults[1].mode: "nap" is not a kind of pause; write stop or suspend`, true},
	{"cut off from itself", "pause: client-1", "partition: client-1\n    from: [client-1]", `x.yaml:9: faults[1].from: client-1 has no connection to itself`, false},
	{"cut off from nobody", "pause: client-1", "partition: client-1", `x.yaml:7: faults[1].from: name at least one process`, true},
	{"delay without unit", "pause: client-1", "delay: client-1\n    to: storage\n    by: 5", `x.yaml:10: faults[1].by: "5" has no unit; did you mean "5s"?`, true},
	{"negative delay", "pause: client-1", "delay: client-1\n    to: storage\n    by: -5s", `x.yaml:10: faults[1].by: must be a positive duration such as 5s`, false},
	{"message that is none", "pause: client-1", "hold: a letter", `x.yaml:8: faults[1].hold: "a letter" selects no message: write "client-1's write request to storage" or "redis-3's reply to client-1's acquire"`, false},
	{"unknown step", "before: client-1 write", "before: client-1 writes", `x.yaml:7: faults[1].before: "client-1 writes" is not a step; did you mean "client-1 write"?`, false},
	{"step that does not exist", "before: client-1 write", "before: client-1 sleep", `x.yaml:7: faults[1].before: "client-1 sleep" is not a step: write a client and one of acquire, mint, mark, read, work, check, write, extend, release, such as "client-1 write"`, false},
	{"point that lacks its possessive", "{starts: client-1's", "{starts: client-1", `x.yaml:5: clients.client-2.starts: "client-1 keys expired" is not a point; did you mean "client-1's keys expired"?`, false},
	{"point that does not exist", "until: client-2 released", "until: client-2 slept", `x.yaml:9: faults[1].until: "client-2 slept" is not a point: after "client-2" write one of: ` + verbs + `; after "client-2's" write one of: ` + owned, false},
	{"number as a process", "pause: client-1", "pause: 1", `x.yaml:8: faults[1].pause: expected text, but it is the number "1"; put it in quotes`, true},

	{"clock of nobody", "until: client-2 released", "for: 31s\n    by-clock-of: redis-9", `x.yaml:10: faults[1].by-clock-of: no node is called "redis-9"; did you mean "redis-1"?`, false},
	{"clock without a time", "until: client-2 released", "until: client-2 released\n    by-clock-of: redis-1", `x.yaml:7: faults[1]: "by-clock-of" measures the time after "for", and there is none; add "for", or leave it out`, false},
	{"failover of a node", "pause: client-1", "crash: redis-1\n    how: failover", `x.yaml:9: faults[1].how: redis-1 has no copy that could take over: only the storage has one; for a node write power-loss, and promote its replica`, false},
	{"number of a message", "pause: client-1", "hold: client-1's request to redis-1, thrice", `x.yaml:8: faults[1].hold: "client-1's request to redis-1, thrice": write text such as "2nd time" after the comma, not "thrice"; did you mean "client-1's request to redis-1, 3rd time"?`, false},
	{"failing client", "pause: client-1", "fail: client-1", `x.yaml:8: faults[1].fail: client-1 is not a node; name the node whose commands fail`, false},
	{"error of two lines", "pause: client-1", "fail: redis-1\n    with: \"ERR a\\nb\"", `x.yaml:9: faults[1].with: must be one line, such as LOADING Redis is loading the dataset in memory`, false},
	{"disk of a node that stands still", "pause: client-1", "disk-stall: redis-1", `x.yaml:8: faults[1].disk-stall: redis-1 is a Redis node with persistence none: if its disk stalls, the node does not notice, because it writes nothing to disk`, false},
	{"disk of a client", "pause: client-1", "disk-stall: client-1", `x.yaml:8: faults[1].disk-stall: client-1 is not a node; name the node whose disk stalls`, false},
	{"stall of nobody", "pause: client-1", "stall: client-7", `x.yaml:8: faults[1].stall: no process is called "client-7"; did you mean "client-1"?`, false},

	// What clients do.
	{"a step with nothing to do it to", "client-1: {}", "client-1: {does: [read]}", `x.yaml:4: clients.client-1.does[1]: "read" is not a task: write work, check, mint, release-again, one of recall, remember and claim, acquire or try with a lock, such as "acquire b", or one of read, mark and write with an object, such as "write x" or "write x via proxy"`, false},
	{"a step that is not the client's", "client-1: {}", "client-1: {does: [read x, release]}", `x.yaml:4: clients.client-1.does[2]: "release" is not a task: write work, check, mint, release-again, one of recall, remember and claim, acquire or try with a lock, such as "acquire b", or one of read, mark and write with an object, such as "write x" or "write x via proxy"`, false},
	{"nothing to do", "client-1: {}", "client-1: {does: []}", `x.yaml:4: clients.client-1.does: the list is empty; name what the client does, or leave the field out`, true},
	{"working twice", "client-1: {}", "client-1: {does: [work, read x, work]}", `x.yaml:4: clients.client-1.does[3]: the client works twice; keep one work step, and set its duration with works`, false},
	{"never working", "client-1: {}", "client-1: {does: [write x], works: 5s}", `x.yaml:4: clients.client-1.works: the client never works: does has no step work; add work to does`, false},
	{"minting without a mint", "client-1: {}", "client-1: {does: [mint, write x]}", `x.yaml:4: clients.client-1.does[1]: the scenario has no source of tokens to mint from; give tokens a source, or leave the step out`, false},
	{"service that does not exist", "clients:\n  client-1: {}", "services: {proxy: {}}\nclients:\n  client-1: {does: [write x via proxi]}", `x.yaml:5: clients.client-1.does[1]: no service is called "proxi"; did you mean "proxy"?`, false},
	{"no service at all", "client-1: {}", "client-1: {does: [write x via proxy]}", `x.yaml:4: clients.client-1.does[1]: no service is called "proxy"; name it under services`, false},
	{"object that is no name", "client-1: {}", "client-1: {does: [read X]}", `x.yaml:4: clients.client-1.does[1]: "X" is not a name; a name is lower-case letters, digits and single dashes, as in client-1`, false},
	{"way to retry", "client-1: {}", "client-1: {retry: jittery}", `x.yaml:4: clients.client-1.retry: "jittery" is not known here; did you mean "jitter"?`, true},
	{"what to do without an answer", "client-1: {}", "client-1: {if-no-answer: resend}", `x.yaml:4: clients.client-1.if-no-answer: "resend" is not known here; did you mean "resends"?`, true},
	{"cancelling at no point", "client-1: {}", "client-1: {cancels: client-2 cancels}", `x.yaml:4: clients.client-1.cancels: "client-2 cancels" is not a point; did you mean "client-2 cancelled"?`, false},
	{"cancelling with nobody", "client-1: {}", "client-1: {cancels: client-7 acquired}", `x.yaml:4: clients.client-1.cancels: no client is called "client-7"; did you mean "client-1"?`, false},
	{"cancelling with a node", "client-1: {}", "client-1: {cancels: redis-1 acquired}", `x.yaml:4: clients.client-1.cancels: "redis-1 acquired" can never happen: redis-1 is not a client`, false},
	{"resending without giving up", "client-1: {}", "client-1: {if-no-answer: resends}", `x.yaml:4: clients.client-1.if-no-answer: the client waits for an answer for ever; set how long it waits with gives-up`, false},

	// Services, tokens and paths.
	{"service with a client's name", "faults:", "services: {client-1: {}}\nfaults:", `x.yaml:6: services.client-1: a client is already called that; give the service another name`, false},
	{"service with a node's name", "faults:", "services: {redis-1: {}}\nfaults:", `x.yaml:6: services.redis-1: a node is already called that; give the service another name`, false},
	{"service with a bad name", "faults:", "services: {Proxy: {}}\nfaults:", `x.yaml:6: services.Proxy: "Proxy" is not a name; a name is lower-case letters, digits and single dashes, as in client-1`, true},
	{"source of tokens", "faults:", "tokens: {source: inc}\nfaults:", `x.yaml:6: tokens.source: "inc" is not known here; did you mean "incr"?`, true},
	{"an option of a feature that is off", "ttl: 30s", "ttl: 30s, node-timeout: 3s, without: [node-timeout]", `x.yaml:2: lock: option node-timeout is 3s, but the feature "node-timeout" is turned off: leave one of the two out`, false},
	{"tokens from nowhere", "faults:", "tokens: {nodes: [counter]}\nfaults:", `x.yaml:6: tokens.source: it is missing; add it, or leave tokens out`, false},
	{"counter with a client's name", "faults:", "tokens: {source: incr, nodes: [client-1]}\nfaults:", `x.yaml:4: clients.client-1: a node is already called that; give the client another name`, false},
	{"counter named twice", "faults:", "tokens: {source: quorum-incr, nodes: [counter, counter]}\nfaults:", `x.yaml:6: tokens.nodes[2]: counter is named twice; leave one out`, true},
	{"tokens that nobody counts", "lock: {kind: redlock, ttl: 30s}", "lock: {kind: none}\ntokens: {source: incr}", `x.yaml:3: tokens: there is no node to count the tokens on; name one in tokens.nodes`, false},
	{"one counter too many", "faults:", "tokens: {source: incr, nodes: [counter, redis-1]}\nfaults:", `x.yaml:6: tokens.nodes[2]: the source incr counts tokens on one node only; leave the others out`, false},
	{"nodes that count nothing", "faults:", "tokens: {source: random, nodes: [counter]}\nfaults:", `x.yaml:6: tokens.nodes: the source random does not count tokens on nodes; leave the nodes out`, false},
	{"no services", "faults:", "services: {}\nfaults:", `x.yaml:6: services: there are no services here; leave the field out`, true},
	{"path to nobody", "faults:", "network: {paths: [{from: client-1, to: [redis-9], latency: 5ms}]}\nfaults:", `x.yaml:6: network.paths[1].to[1]: no node is called "redis-9"; did you mean "redis-1"?`, false},
	{"path without a latency", "faults:", "network: {paths: [{from: client-1, to: [redis-1]}]}\nfaults:", `x.yaml:6: network.paths[1].latency: it is missing; add it, or leave network.paths[1] out`, false},
	{"path to itself", "faults:", "network: {paths: [{from: client-1, to: [client-1], latency: 5ms}]}\nfaults:", `x.yaml:6: network.paths[1].to[1]: client-1 sends no messages to itself; name another process`, false},
	{"fallback of a lock without one", "ttl: 30s}", "ttl: 30s, fallback: go-ahead}", `x.yaml:2: lock.fallback: the lock redlock has no such setting; leave it out`, false},
	{"fencing that does not exist", "faults:", "storage: {fencing: volatile}\nfaults:", `x.yaml:6: storage.fencing: "volatile" is not known here; did you mean "volatile-token"?`, true},
	{"measure that does not exist", "witnesses:", "measures: [heat]\nwitnesses:", `x.yaml:10: measures[1]: "heat" is not known here; known here: ` + strings.Join(checks.MeasureNames(), ", "), true},

	// Witnesses.
	{"witness that is none", "client-1's keys expired while client-1 was paused", "it went wrong", `x.yaml:11: witnesses[1]: "it went wrong" is not a point: after "it" write one of: ` + verbs + `; after "it's" write one of: ` + owned, false},
	{"client in a witness", "while client-1 was", "while client-7 was", `x.yaml:11: witnesses[1]: no client is called "client-7"; did you mean "client-1"?`, false},
	{"node in a witness", "client-1's keys expired while", "client-1's key expired on redis-6 while", `x.yaml:11: witnesses[1]: no node is called "redis-6"; did you mean "redis-1"?`, false},

	// Expectations.
	{"lock that is not known", "  on: {verdict: safe}\n", "  on: {verdict: safe}\nexpect-with:\n  redsink: {on: {verdict: safe}}\n", `x.yaml:16: expect-with.redsink: no lock is called "redsink"; did you mean "redsync"?`, true},
	{"own lock twice", "  on: {verdict: safe}\n", "  on: {verdict: safe}\nexpect-with:\n  redlock: {on: {verdict: safe}}\n", `x.yaml:16: expect-with.redlock: redlock is the scenario's own lock; write what you expect of it under expect`, false},
	{"no verdict", "{verdict: safe}", "{violated: []}", `x.yaml:14: expect.on.verdict: it is missing; add it, or leave expect.on out`, true},
	{"safe and violated", "{verdict: safe}", "{verdict: safe, violated: [grant-order, write-order]}", `x.yaml:14: expect.on.violated[2]: a run that violates write-order is unsafe; change the verdict or the list`, false},
	{"unsafe and not violated", "[write-order]", "[grant-order]", `x.yaml:13: expect.off.verdict: an unsafe run violates a property of the data; list which: write-order, no-lost-update, serial-sections, once-per-period`, false},

	// Variants.
	{"no variants", "expect:", "variants: {}\nexpect:", `x.yaml:12: variants: there are no variants here; leave the field out`, true},
	{"list of variants", "expect:", "variants: [a]\nexpect:", `x.yaml:12: variants: expected a mapping of names, but it is a list`, true},
	{"variant that is no mapping", "expect:", "variants: {a: 1}\nexpect:", `x.yaml:12: variants.a: expected a mapping of fields, but it is the number "1"`, true},
	{"variants of a variant", "expect:", "variants: {a: {variants: {}}}\nexpect:", `x.yaml:12: variants.a.variants: there is no such field; known here: ` + fields, true},
	{"mistake in one variant", "expect:", "variants:\n  a: {}\n  b: {clients: {client-2: {starts: client-7's keys expired}}}\nexpect:", `x.yaml:14: variants.b.clients.client-2.starts: no client is called "client-7"; did you mean "client-1"?`, false},
	{"mistake that all variants share", "keys expired}\n", "keys expired, works: 3}\nvariants: {a: {}, b: {}}\n", `x.yaml:5: clients.client-2.works: "3" has no unit; did you mean "3s"?`, true},
}

// clients returns n more clients, as lines of a scenario file.
func clients(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "\n  c-%d: {}", i)
	}
	return b.String()
}

// FaultKinds returns the names of the kinds of faults.
func FaultKinds() []string {
	var names []string
	for _, kind := range sim.FaultKinds() {
		names = append(names, kind.Name)
	}
	return names
}
