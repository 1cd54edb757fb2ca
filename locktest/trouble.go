package locktest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A trouble is something that can go wrong at some moment of an exchange.
type trouble struct {
	name, title string
	// sides are the moments at which it can strike.
	sides []side
	// strikesClient means that it strikes the client, independently of the nodes.
	strikesClient bool
	// strikesWork means that it can also strike between two calls.
	strikesWork bool
	// isPermanent means that it never ends. It therefore strikes no more nodes than a lock
	// that asks a quorum can do without.
	isPermanent bool
	// onlyLosesMessage means that a message is lost, and nothing else is wrong.
	onlyLosesMessage bool
	// ways are the durations that are tried.
	ways []way
	// effect is the effect of its faults; faults returns the faults of a world.
	effect trace.Effect
	faults func(injection) []sim.Fault
}

// effectsWithoutTrouble has, for each effect that no trouble has, the reason.
var effectsWithoutTrouble = map[trace.Effect]string{
	trace.SlowsLink:     "late messages are tried one by one",
	trace.StallsRequest: "it strikes the storage, not the lock",
	trace.StallsDisk:    "for a client, the node is silent or late",
	trace.SetsClock:     "a node would end a lease early, which is not the lock's fault; the test cases about lost leases cover a client's clock",
	trace.DriftsClock:   "a node would end a lease early, which is not the lock's fault",
	trace.MovesRole:     "a node would forget a lease, which is not the lock's fault",
	trace.RevokesClaim:  "an operator would end a lease by hand, which is not the lock's fault",
}

// A side is a moment of an exchange: while a request is in flight, while a reply is in
// flight, or before the call of the lock begins.
type side string

const (
	onRequest  side = "request"
	onReply    side = "reply"
	beforeCall side = "before"
)

// A way is how long a trouble lasts.
type way struct {
	name string
	// lasts is the longest duration; 0 is for good, or no time at all.
	lasts time.Duration
	// until, if not nil, returns a point that ends the trouble; isPossible, if not nil,
	// reports whether that point can be reached.
	until      func(injection) trace.Point
	isPossible func(exchange) bool
	// sides, if not nil, are the only sides with this duration.
	sides []side
	// needsAllNodes means that the duration is not tried on one of several nodes, where it
	// shows nothing that other durations do not show.
	needsAllNodes bool
}

// An injection is a trouble that strikes in one world.
type injection struct {
	way
	side
	// call is the client's call of the lock, others are the other clients.
	call   trace.StepPoint
	others []string
	// sendings has one sending for each node that is struck.
	sendings []sending
}

// onlyWay is the way of a trouble that takes no time, or lasts for ever.
var onlyWay = []way{{}}

func lasting(n float64) []way { return []way{{lasts: ttls(n)}} }

// troubles are all troubles.
var troubles = []trouble{
	{
		name: "lost-request", title: "the connection is cut before a request arrives", effect: trace.ResetsConnection,
		sides: []side{onRequest}, onlyLosesMessage: true, ways: onlyWay, faults: injection.resetConnections,
	},
	{
		name: "lost-reply", title: "a request is carried out, and the connection is cut before the reply arrives", effect: trace.ResetsConnection,
		sides: []side{onReply}, onlyLosesMessage: true, ways: onlyWay, faults: injection.resetConnections,
	},
	{
		name: "late-request", title: "a request arrives late", effect: trace.HoldsMessage,
		sides: []side{onRequest}, ways: lateWays, faults: injection.hold,
	},
	{
		name: "late-reply", title: "a reply arrives late", effect: trace.HoldsMessage,
		sides: []side{onReply}, ways: lateWays, faults: injection.hold,
	},
	{
		name: "silence", title: "no message passes between the client and a node for a while", effect: trace.CutsLink,
		sides: []side{onRequest, onReply}, strikesWork: true, ways: lasting(1.5), faults: injection.partition,
	},
	{
		name: "errors", title: "a node answers with errors for a while", effect: trace.AnswersErrors,
		sides: []side{onRequest}, strikesWork: true, ways: lasting(0.3), faults: onNodes(func(n string) sim.Action { return &sim.Fail{Node: n} }),
	},
	{
		name: "node-down", title: "a node is down for a while, and restarts with all its data", effect: trace.KillsProcess,
		sides: []side{onRequest, onReply}, strikesWork: true, ways: lasting(0.3), faults: onNodes(func(n string) sim.Action { return &sim.CrashFault{Process: n} }),
	},
	{
		name: "node-silent", title: "nodes stop answering for good, and keep their connections", effect: trace.StopsProcess,
		sides: []side{onRequest}, strikesWork: true, isPermanent: true, ways: onlyWay, faults: onNodes(func(n string) sim.Action { return &sim.Pause{Process: n} }),
	},
	{
		name: "cancelled", title: "the context of a call is cancelled", effect: trace.CancelsCall,
		sides: []side{onRequest, onReply}, strikesClient: true, ways: onlyWay, faults: onClient(func(c string) sim.Action { return &sim.Cancel{Client: c} }),
	},
	{
		name: "pause", title: "the client is paused", effect: trace.StopsProcess,
		sides: []side{beforeCall, onRequest, onReply}, strikesClient: true, strikesWork: true, ways: []way{
			{name: "0.5-ttl", lasts: ttls(0.5), sides: []side{onReply}},
			{name: "until-another", lasts: ttls(2.3), until: injection.anotherAcquire, isPossible: exchange.isAcquiredByAnother},
			{name: "until-another-left", lasts: ttls(2.3), until: injection.anotherRelease, isPossible: exchange.isAcquiredByAnother, sides: []side{beforeCall, onReply}},
		}, faults: onClient(func(c string) sim.Action { return &sim.Pause{Process: c} }),
	},
	{
		name: "killed", title: "the client is killed", effect: trace.KillsProcess,
		sides: []side{onRequest, onReply}, strikesClient: true, strikesWork: true, ways: onlyWay, faults: onClient(func(c string) sim.Action { return &sim.CrashFault{Process: c} }),
	},
}

// lateWays are how late a message can be: longer than libraries wait for one node, longer
// than go-redis waits by default, longer than the TTL, and until the lock is granted to a
// client for whom the message was not meant.
var lateWays = []way{
	{name: "0.06-ttl", lasts: ttls(0.06)},
	{name: "0.6-ttl", lasts: ttls(0.6), needsAllNodes: true},
	{name: "1.2-ttl", lasts: ttls(1.2), needsAllNodes: true},
	{name: "until-own-next", lasts: ttls(2.3), until: injection.ownNextAcquire, isPossible: exchange.isAcquiredAgain},
	{name: "until-another", lasts: ttls(2.3), until: injection.anotherAcquire, isPossible: exchange.isAcquiredByAnother},
}

func (x exchange) isAcquiredAgain() bool     { return x.acquiresAgain }
func (x exchange) isAcquiredByAnother() bool { return x.anotherAcquires }

// An extent is how many nodes are struck at the same time.
type extent struct {
	name, title string
	// choose returns groups of the sendings of one exchange; the sendings of a group are
	// struck together.
	choose func([]sending) [][]sending
}

// extents are the extents of troubles that strike nodes.
var extents = []extent{
	// The first node, the node that completes a majority, and the last. The nodes between
	// them behave like their neighbours.
	{"", "", func(all []sending) [][]sending { return chooseSingly(all, 0, len(all)/2, len(all)-1) }},
	{"majority", ", on a majority of nodes", func(all []sending) [][]sending { return chooseFirst(all, len(all)/2+1) }},
	{"all", ", on all nodes", func(all []sending) [][]sending { return chooseFirst(all, len(all)) }},
}

// clientExtent is the extent of the troubles that strike clients. For a client, messages
// that are sent at the same moment are equivalent.
var clientExtent = extent{"", "", func(all []sending) [][]sending {
	all = slices.CompactFunc(slices.Clone(all), func(a, b sending) bool { return a.Message == b.Message })
	return chooseSingly(all, len(all)/2, len(all)-1)
}}

// minorityExtent is the extent of the permanent troubles.
var minorityExtent = extent{"minority", ", a minority of all", func(all []sending) [][]sending { return chooseFirst(all, (len(all)-1)/2) }}

func (t trouble) extents() []extent {
	switch {
	case t.strikesClient:
		return []extent{clientExtent}
	case t.isPermanent:
		return []extent{minorityExtent}
	}
	return extents
}

// chooseSingly returns the sendings at some positions, each as its own group and once.
func chooseSingly(all []sending, which ...int) (each [][]sending) {
	for i := range all {
		if slices.Contains(which, i) {
			each = append(each, all[i:i+1])
		}
	}
	return each
}

// chooseFirst returns the first n sendings of an exchange as one group, or nil if the
// exchange is with a single node.
func chooseFirst(all []sending, n int) [][]sending {
	if len(all) < 2 || n == 0 {
		return nil
	}
	return [][]sending{all[:n]}
}

// steps returns the steps of the lock's traffic at which a trouble can strike.
func (t trouble) steps() []trace.Step {
	steps := []trace.Step{trace.Acquire, trace.Extend, trace.Release}
	if t.effect != trace.CancelsCall { // it needs a call
		steps = append(steps, "")
	}
	if t.strikesWork {
		steps = append(steps, trace.Work)
	}
	return steps
}

// client returns the client whose messages are struck.
func (b injection) client() string { return b.call.Client }

// nodes returns the nodes that are struck.
func (b injection) nodes() (names []string) {
	for _, m := range b.sendings {
		names = append(names, m.node)
	}
	return names
}

// trigger returns when the injection begins.
func (b injection) trigger() trace.Trigger {
	if b.side == beforeCall {
		return trace.Trigger{Before: b.call}
	}
	return trace.Trigger{When: b.sendings[0].inFlight()}
}

// newFault returns a fault that strikes at the injection's trigger.
func (b injection) newFault(action sim.Action) sim.Fault {
	f := sim.Fault{Strikes: b.trigger(), For: b.lasts, Action: action}
	if b.until != nil {
		f.Until = b.until(b)
	}
	return runs.Fault{Fault: f}.SimFault()
}

// onNodes makes one fault for each node that is struck, all at the same moment.
func onNodes(action func(node string) sim.Action) func(injection) []sim.Fault {
	return func(b injection) (faults []sim.Fault) {
		for _, n := range b.nodes() {
			faults = append(faults, b.newFault(action(n)))
		}
		return faults
	}
}

// onClient makes a fault of the client.
func onClient(action func(client string) sim.Action) func(injection) []sim.Fault {
	return func(b injection) []sim.Fault { return []sim.Fault{b.newFault(action(b.client()))} }
}

// perNode returns the injection once for each of its nodes.
func (b injection) perNode() (each []injection) {
	for i := range b.sendings {
		one := b
		one.sendings = b.sendings[i : i+1]
		each = append(each, one)
	}
	return each
}

func (b injection) resetConnections() (faults []sim.Fault) {
	for _, one := range b.perNode() {
		faults = append(faults, one.newCutFault(&sim.Reset{Process: b.client(), From: one.nodes()[0]}))
	}
	return faults
}

func (b injection) partition() []sim.Fault {
	return []sim.Fault{b.newCutFault(&sim.Partition{Process: b.client(), From: b.nodes()})}
}

// newCutFault makes a fault that cuts the client off from the nodes.
func (b injection) newCutFault(action sim.Action) sim.Fault {
	f := b.newFault(action)
	f.Text = fmt.Sprintf("%s %s from %s", f.Kind(), b.client(), strings.Join(b.nodes(), ", "))
	return f
}

func (b injection) hold() (faults []sim.Fault) {
	for _, one := range b.perNode() {
		f := one.newFault(&sim.Hold{Message: one.sendings[0].NthMessage})
		f.Strikes = trace.Trigger{} // the action itself waits for the message
		faults = append(faults, f)
	}
	return faults
}

// ownNextAcquire is reached when the client itself acquires the lock next, or sets its key
// on the node for which a request was meant.
func (b injection) ownNextAcquire() trace.Point {
	next := []trace.Happening{did(b.client(), trace.Acquired)}
	if b.side == onRequest {
		next = append(next, holds(b.client(), b.nodes()[0]))
	}
	return whenAny(next...)
}

// anotherAcquire is reached when another client acquires the lock. While a single late
// request is not a release, it is reached when another client sets its key on that
// request's node; for a late release the old key is still there.
func (b injection) anotherAcquire() trace.Point {
	if b.side == onRequest && b.call.Step != trace.Release && len(b.sendings) == 1 {
		return b.anyOther(func(client string) trace.Happening { return holds(client, b.nodes()[0]) })
	}
	return b.anyOther(func(client string) trace.Happening { return did(client, trace.Acquired) })
}

// anotherRelease is reached when another client has acquired and released the lock.
func (b injection) anotherRelease() trace.Point {
	return b.anyOther(func(client string) trace.Happening { return did(client, trace.Released) })
}

// anyOther is reached when one of the other clients does something.
func (b injection) anyOther(happening func(client string) trace.Happening) trace.Point {
	happenings := make([]trace.Happening, len(b.others))
	for i, client := range b.others {
		happenings[i] = happening(client)
	}
	return whenAny(happenings...)
}
