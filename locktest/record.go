package locktest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A record is the lock's own traffic in a base without any fault.
type record struct {
	// exchanges has one exchange of each class, in the order in which they happen.
	exchanges []exchange
	// unusable is why the record cannot be used, or "".
	useless string
}

// An exchange is the requests that one call of the lock sends to all of its nodes at the
// same time, and their replies.
type exchange struct {
	class
	// call is the client's call of the lock.
	call trace.StepPoint
	// requests has one sending for each node, in the order in which they are sent; replies
	// has the sendings of their answers.
	requests, replies []sending
	// acquiresAgain means that the same client acquires the lock later, anotherAcquires
	// that another client does.
	ownNext, another bool
	// unknownScripts counts the nodes that did not know the script they were asked to run.
	unknown int
}

// A sending is the moment at which a message is sent, seen from one node.
type sending struct {
	trace.NthMessage
	node string
}

// inFlight returns the point at which the message is sent.
func (m sending) inFlight() trace.Point { return m.InFlight(m.Nth) }

// A class is the place of an exchange in the workload. Exchanges of one class are
// practically the same, so one of them is enough.
type class struct {
	// step is the step of the call, "" for what the lock sends by itself, and Work for the
	// time between two calls, in which it need not send anything.
	step trace.Step
	// granted means that an acquire was granted, afterFailure that the client's acquire
	// before it had failed.
	granted, again bool
	// reacquires means, for a release, that the client acquires the lock once more.
	returns bool
	// round is the number of the call's request to a node, from 1. Requests for an unknown
	// script do not count.
	round int
}

// maxRounds is how many requests of one call to one node are distinguished. Later requests
// only repeat.
const rounds = 4

// record returns the traffic of a base, on a seed.
func (s *subject) record(b base, seed uint64) *record {
	name := fmt.Sprintf("%s %d", b.name, seed)
	if s.records[name] == nil {
		s.records[name] = s.listen(b, seed)
	}
	return s.records[name]
}

// recordTraffic runs a base and records the lock's traffic.
func (s *subject) listen(b base, seed uint64) *record {
	config, _, err := s.pace(b.config(s, seed))
	var tr *trace.Trace
	if err == nil {
		tr, err = sim.RunPatiently(config, s.config.Patience)
	}
	if errors.Is(err, sim.ErrLate) {
		return &record{useless: err.Error()}
	}
	if err != nil {
		return &record{useless: "the lock fails even if nothing is wrong; see the test case " + undisturbed}
	}
	r := &record{}
	taken := map[class]bool{}
	for _, x := range exchanges(history.Of(tr)) {
		if x.round <= rounds && !x.vain() && !taken[x.class] {
			taken[x.class] = true
			r.exchanges = append(r.exchanges, *x)
		}
	}
	return r
}

// A turn is a call of the lock, or the time after it until the client's next call.
type turn struct {
	client string
	call   *history.Call // nil before the first
	over   bool
}

// A trafficReader reads a run and collects its exchanges.
type listener struct {
	*history.History
	// nodes are the nodes that keep the lock.
	nodes []string
	// afterFailure has the calls of acquire whose client's acquire before it had failed.
	again map[*history.Call]bool
	// requestCounts counts the requests of each turn to each node; rounds has the exchanges
	// of each turn.
	asked  map[turn]map[string]int
	rounds map[turn][]*exchange
	// exchangeOf has the exchange of each request.
	of     map[*history.Occasion]*exchange
	found  []*exchange
	atWork bool
}

// exchanges returns the exchanges between the clients and the nodes that keep the lock, in
// order.
func exchanges(h *history.History) []*exchange {
	l := &listener{
		History: h, nodes: h.LockNodes(), again: map[*history.Call]bool{},
		asked: map[turn]map[string]int{}, rounds: map[turn][]*exchange{}, of: map[*history.Occasion]*exchange{},
	}
	failed := map[string]bool{}
	for _, c := range h.Calls() {
		if c.Step == trace.Acquire && c.Ended != nil {
			l.again[c], failed[c.Client] = failed[c.Client], c.Failed()
		}
	}
	for _, o := range h.Survey() {
		// Messages between nodes are not the lock's responsibility.
		switch kept := slices.Contains(l.nodes, o.Message.Peer) && h.Role(o.Message.Client) != trace.RoleNode; {
		case o.Begins != nil || o.Arrived:
		case kept && o.Answers != nil:
			l.reply(o)
		case kept && !o.Message.Reply:
			l.request(o)
		case o.Message.Reply && o.Event.Step == trace.Read:
			l.work(o)
		}
	}
	for _, asked := range l.rounds {
		n := 0
		for _, x := range asked {
			if !x.vain() {
				n++
				x.round = n
			}
		}
	}
	return l.found
}

// scriptUnknown reports whether no node did what it was asked to, because none knew the
// script. The client then asks once more.
func (x *exchange) vain() bool { return x.unknown > 0 && x.unknown == len(x.replies) }

// addRequest adds a request to the exchange that it belongs to.
func (l *listener) request(o *history.Occasion) {
	node := o.Message.Peer
	t := turn{o.Message.Client, o.Call, !o.During()}
	if l.asked[t] == nil {
		l.asked[t] = map[string]int{}
	}
	round := l.asked[t][node]
	l.asked[t][node]++
	if round == len(l.rounds[t]) {
		l.rounds[t] = append(l.rounds[t], l.exchange(t, o.Event.Seq))
	}
	x := l.rounds[t][round]
	x.requests = append(x.requests, sending{o.Message, node})
	l.of[o] = x
}

// addReply adds a reply to the exchange of its request.
func (l *listener) reply(o *history.Occasion) {
	x := l.of[o.Answers]
	x.replies = append(x.replies, sending{o.Message, o.Message.Peer})
	if history.UnknownScript(o.Event) {
		x.unknown++
	}
}

// addWork adds an exchange for the work between two calls: the first time that a client
// reads the storage.
func (l *listener) work(o *history.Occasion) {
	if l.atWork {
		return
	}
	l.atWork = true
	x := l.add(trace.StepPoint{Client: o.Message.Client, Step: trace.Work}, o.Event.Seq)
	x.class = class{step: trace.Work, round: 1}
	for _, node := range l.nodes {
		x.replies = append(x.replies, sending{o.Message, node})
	}
}

// newExchange adds an exchange of a turn; the exchange begins with the event seq.
func (l *listener) exchange(t turn, seq int) *exchange {
	if t.over {
		return l.add(trace.StepPoint{Client: t.client}, seq)
	}
	if t.call.Ended != nil {
		seq = t.call.Ended.Seq
	}
	x := l.add(t.call.Point(), seq)
	acquired := t.call.Step == trace.Acquire && t.call.OK()
	x.class = class{
		step: t.call.Step, granted: acquired, again: acquired && l.again[t.call],
		returns: t.call.Step == trace.Release && x.ownNext,
	}
	return x
}

// addExchange adds an exchange of a call whose last event has the number last.
func (l *listener) add(call trace.StepPoint, last int) *exchange {
	x := &exchange{call: call}
	for _, s := range l.Sections() {
		if s.Granted.Seq > last {
			x.ownNext = x.ownNext || s.Client == call.Client
			x.another = x.another || s.Client != call.Client
		}
	}
	l.found = append(l.found, x)
	return x
}
