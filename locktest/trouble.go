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

// A trouble is something that can go wrong at some moment of an exchange, which is a round
// of a client's requests to the nodes and their replies.
type trouble struct {
	name, title string
	// moments are the moments of an exchange at which the trouble can strike.
	moments []moment
	// strikesClient means that the trouble strikes a client, and none of the nodes.
	strikesClient bool
	// strikesWork means that the trouble can also strike between two calls of the lock.
	strikesWork bool
	// isPermanent means that the trouble never ends. So it strikes at most a minority of
	// the nodes.
	isPermanent bool
	// onlyLosesMessage means that a message is lost, and nothing else goes wrong.
	onlyLosesMessage bool
	// durations are the durations with which the trouble is tried.
	durations []duration
	// effect is the effect of the trouble's faults. faults returns the faults for one
	// injection.
	effect trace.Effect
	faults func(injection) []sim.Fault
}

// effectsWithoutTrouble explains, for each effect of a fault, why there is no trouble with
// that effect.
var effectsWithoutTrouble = map[trace.Effect]string{
	trace.SlowsLink:     "late messages are tried one by one",
	trace.StallsRequest: "it strikes the storage, not the lock",
	trace.StallsDisk:    "to a client, the node looks silent or late, which other troubles cover",
	trace.SetsClock:     "a node would end a lease early, which is not the lock's fault; the test cases about lost leases cover a client's clock",
	trace.DriftsClock:   "a node would end a lease early, which is not the lock's fault",
	trace.MovesRole:     "a node would forget a lease, which is not the lock's fault",
	trace.RevokesClaim:  "an operator would end a lease by hand, which is not the lock's fault",
}

// A moment is a part of an exchange: while a request is in flight, while a reply is in
// flight, or before the client calls the lock.
type moment string

const (
	onRequest  moment = "request"
	onReply    moment = "reply"
	beforeCall moment = "before"
)

// A duration says how long a trouble lasts.
type duration struct {
	name string
	// lasts is the longest time. 0 means forever, or no time at all for a trouble that is
	// instant.
	lasts time.Duration
	// until, if not nil, returns a point at which the trouble ends earlier. isPossible, if
	// not nil, reports whether an exchange's clients can reach that point.
	until      func(injection) trace.Point
	isPossible func(exchange) bool
	// moments, if not nil, are the only moments at which this duration is tried.
	moments []moment
	// needsAllNodes means that, if the lock has several nodes, the duration is never tried on one
	// of them alone, because that would show no more than other durations show.
	needsAllNodes bool
}

// An injection is a trouble as it strikes in one world.
type injection struct {
	duration
	moment
	// call is the call of the lock that is struck. others are all clients except the one that makes
	// this call.
	call   trace.StepPoint
	others []string
	// sendings has one sending, which is a message in flight, for each node that is struck.
	sendings []sending
}

// singleDuration is the duration of a trouble that takes no time, or lasts forever.
var singleDuration = []duration{{}}

// fixedDuration returns a duration of n TTLs.
func fixedDuration(n float64) []duration { return []duration{{lasts: ttls(n)}} }

// troubles are all troubles.
var troubles = []trouble{
	{
		name: "lost-request", title: "the connection is cut before a request arrives", effect: trace.ResetsConnection,
		moments: []moment{onRequest}, onlyLosesMessage: true, durations: singleDuration, faults: injection.resetConnections,
	},
	{
		name: "lost-reply", title: "a request is carried out, and the connection is cut before the reply arrives", effect: trace.ResetsConnection,
		moments: []moment{onReply}, onlyLosesMessage: true, durations: singleDuration, faults: injection.resetConnections,
	},
	{
		name: "late-request", title: "a request arrives late", effect: trace.HoldsMessage,
		moments: []moment{onRequest}, durations: lateDurations, faults: injection.hold,
	},
	{
		name: "late-reply", title: "a reply arrives late", effect: trace.HoldsMessage,
		moments: []moment{onReply}, durations: lateDurations, faults: injection.hold,
	},
	{
		name: "silence", title: "no message passes between the client and a node for a while", effect: trace.CutsLink,
		moments: []moment{onRequest, onReply}, strikesWork: true, durations: fixedDuration(1.5), faults: injection.partition,
	},
	{
		name: "errors", title: "a node answers with errors for a while", effect: trace.AnswersErrors,
		moments: []moment{onRequest}, strikesWork: true, durations: fixedDuration(0.3), faults: onNodes(func(n string) sim.Action { return &sim.Fail{Node: n} }),
	},
	{
		name: "node-down", title: "a node is down for a while, and restarts with all its data", effect: trace.KillsProcess,
		moments: []moment{onRequest, onReply}, strikesWork: true, durations: fixedDuration(0.3), faults: onNodes(func(n string) sim.Action { return &sim.CrashFault{Process: n} }),
	},
	{
		name: "node-silent", title: "nodes stop answering for good, and keep their connections", effect: trace.StopsProcess,
		moments: []moment{onRequest}, strikesWork: true, isPermanent: true, durations: singleDuration, faults: onNodes(func(n string) sim.Action { return &sim.Pause{Process: n} }),
	},
	{
		name: "cancelled", title: "the context of a call is cancelled", effect: trace.CancelsCall,
		moments: []moment{onRequest, onReply}, strikesClient: true, durations: singleDuration, faults: onClient(func(c string) sim.Action { return &sim.Cancel{Client: c} }),
	},
	{
		name: "pause", title: "the client is paused", effect: trace.StopsProcess,
		moments: []moment{beforeCall, onRequest, onReply}, strikesClient: true, strikesWork: true, durations: []duration{
			{name: "0.5-ttl", lasts: ttls(0.5), moments: []moment{onReply}},
			{name: "until-another", lasts: ttls(2.3), until: injection.anotherAcquire, isPossible: exchange.isAcquiredByAnother},
			{name: "until-another-left", lasts: ttls(2.3), until: injection.anotherRelease, isPossible: exchange.isAcquiredByAnother, moments: []moment{beforeCall, onReply}},
		}, faults: onClient(func(c string) sim.Action { return &sim.Pause{Process: c} }),
	},
	{
		name: "killed", title: "the client is killed", effect: trace.KillsProcess,
		moments: []moment{onRequest, onReply}, strikesClient: true, strikesWork: true, durations: singleDuration, faults: onClient(func(c string) sim.Action { return &sim.CrashFault{Process: c} }),
	},
}

// lateDurations are how late a message can arrive. The first is longer than libraries wait for one
// node, the second longer than go-redis waits by default, and the third longer than the TTL. With
// the last two, the message arrives when the lock has been granted once more.
var lateDurations = []duration{
	{name: "0.06-ttl", lasts: ttls(0.06)},
	{name: "0.6-ttl", lasts: ttls(0.6), needsAllNodes: true},
	{name: "1.2-ttl", lasts: ttls(1.2), needsAllNodes: true},
	{name: "until-own-next", lasts: ttls(2.3), until: injection.ownNextAcquire, isPossible: exchange.isAcquiredAgain},
	{name: "until-another", lasts: ttls(2.3), until: injection.anotherAcquire, isPossible: exchange.isAcquiredByAnother},
}

// The next two report whether a client acquires the lock after the exchange: the same
// client, or another one.
func (x exchange) isAcquiredAgain() bool     { return x.acquiresAgain }
func (x exchange) isAcquiredByAnother() bool { return x.anotherAcquires }

// An extent says how many nodes a trouble strikes at the same time.
type extent struct {
	name, title string
	// choose returns groups of the sendings of one exchange. The sendings of a group are
	// struck together, in one world.
	choose func([]sending) [][]sending
}

// extents are the extents of troubles that strike nodes and end.
var extents = []extent{
	// Single nodes: the first, the node that completes a majority, and the last. The other
	// nodes would behave like their neighbours.
	{"", "", func(all []sending) [][]sending { return chooseSingly(all, 0, len(all)/2, len(all)-1) }},
	{"majority", ", on a majority of nodes", func(all []sending) [][]sending { return chooseFirst(all, len(all)/2+1) }},
	{"all", ", on all nodes", func(all []sending) [][]sending { return chooseFirst(all, len(all)) }},
}

// clientExtent is the extent of the troubles that strike a client. If a client sends several
// messages at the same moment, it makes no difference at which of them the client is struck, so one
// of these messages is enough.
var clientExtent = extent{"", "", func(all []sending) [][]sending {
	all = slices.CompactFunc(slices.Clone(all), func(a, b sending) bool { return a.Message == b.Message })
	return chooseSingly(all, len(all)/2, len(all)-1)
}}

// minorityExtent is the extent of the permanent troubles.
var minorityExtent = extent{"minority", ", a minority of all", func(all []sending) [][]sending { return chooseFirst(all, (len(all)-1)/2) }}

// extents returns the extents with which the trouble is tried.
func (t trouble) extents() []extent {
	switch {
	case t.strikesClient:
		return []extent{clientExtent}
	case t.isPermanent:
		return []extent{minorityExtent}
	}
	return extents
}

// chooseSingly returns the sendings at some positions, each in a group of its own. It
// returns each only once, even if a position is given twice.
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
	if t.effect != trace.CancelsCall { // a cancellation needs a call that can be cancelled
		steps = append(steps, "")
	}
	if t.strikesWork {
		steps = append(steps, trace.Work)
	}
	return steps
}

// client returns the client whose call is struck.
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
	if b.moment == beforeCall {
		return trace.Trigger{Before: b.call}
	}
	return trace.Trigger{When: b.sendings[0].inFlight()}
}

// newFault returns a fault that strikes and ends as the injection says.
func (b injection) newFault(action sim.Action) sim.Fault {
	f := sim.Fault{Strikes: b.trigger(), For: b.lasts, Action: action}
	if b.until != nil {
		f.Until = b.until(b)
	}
	return runs.Fault{Fault: f}.SimFault()
}

// onNodes returns a function that makes a fault for each node that is struck. All strike at
// the same moment.
func onNodes(action func(node string) sim.Action) func(injection) []sim.Fault {
	return func(b injection) (faults []sim.Fault) {
		for _, n := range b.nodes() {
			faults = append(faults, b.newFault(action(n)))
		}
		return faults
	}
}

// onClient returns a function that makes one fault, which strikes the client.
func onClient(action func(client string) sim.Action) func(injection) []sim.Fault {
	return func(b injection) []sim.Fault { return []sim.Fault{b.newFault(action(b.client()))} }
}

// perNode returns one injection for each node that is struck.
func (b injection) perNode() (each []injection) {
	for i := range b.sendings {
		one := b
		one.sendings = b.sendings[i : i+1]
		each = append(each, one)
	}
	return each
}

// resetConnections breaks the client's connections to the nodes, one fault for each node.
func (b injection) resetConnections() (faults []sim.Fault) {
	for _, one := range b.perNode() {
		faults = append(faults, one.newCutFault(&sim.Reset{Process: b.client(), From: one.nodes()[0]}))
	}
	return faults
}

// partition cuts the client off from all nodes that are struck.
func (b injection) partition() []sim.Fault {
	return []sim.Fault{b.newCutFault(&sim.Partition{Process: b.client(), From: b.nodes()})}
}

// newCutFault makes a fault between the client and the nodes, with a text that names them.
func (b injection) newCutFault(action sim.Action) sim.Fault {
	f := b.newFault(action)
	f.Text = fmt.Sprintf("%s %s from %s", f.Kind(), b.client(), strings.Join(b.nodes(), ", "))
	return f
}

// hold keeps the messages of the exchange on their way, one fault for each message.
func (b injection) hold() (faults []sim.Fault) {
	for _, one := range b.perNode() {
		f := one.newFault(&sim.Hold{Message: one.sendings[0].NthMessage})
		f.Strikes = trace.Trigger{} // the action itself waits for the message
		faults = append(faults, f)
	}
	return faults
}

// ownNextAcquire returns the point at which the client itself acquires the lock next. If
// requests are struck, the point is also reached when the client sets its key on the node
// of the late request.
func (b injection) ownNextAcquire() trace.Point {
	next := []trace.Happening{actionOf(b.client(), trace.Acquired)}
	if b.moment == onRequest {
		next = append(next, keySetOn(b.client(), b.nodes()[0]))
	}
	return whenAny(next...)
}

// anotherAcquire returns the point at which another client acquires the lock. If a single
// request is late, it is the point at which another client sets its key on the request's
// node, which can be earlier. But a late release leaves the old key there, so another
// client cannot set its key before the release arrives.
func (b injection) anotherAcquire() trace.Point {
	if b.moment == onRequest && b.call.Step != trace.Release && len(b.sendings) == 1 {
		return b.anyOther(func(client string) trace.Happening { return keySetOn(client, b.nodes()[0]) })
	}
	return b.anyOther(func(client string) trace.Happening { return actionOf(client, trace.Acquired) })
}

// anotherRelease returns the point at which another client has acquired and released the
// lock.
func (b injection) anotherRelease() trace.Point {
	return b.anyOther(func(client string) trace.Happening { return actionOf(client, trace.Released) })
}

// anyOther returns the point at which the happening of any of the other clients occurs.
func (b injection) anyOther(happening func(client string) trace.Happening) trace.Point {
	happenings := make([]trace.Happening, len(b.others))
	for i, client := range b.others {
		happenings[i] = happening(client)
	}
	return whenAny(happenings...)
}
