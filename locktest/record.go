package locktest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A record is the lock's own traffic in a base, which is a workload without faults.
type record struct {
	// exchanges has one exchange of each class, in the order in which they happened.
	exchanges []exchange
	// unusable is why the record cannot be used, or "".
	unusable string
}

// An exchange is a round of requests that one call of the lock sends, one to each of its
// nodes, with their replies.
type exchange struct {
	class
	// call is the client's call of the lock.
	call trace.StepPoint
	// requests has the request to each node that was asked, in the order in which they were
	// sent. replies has the nodes' answers.
	requests, replies []sending
	// acquiresAgain means that the same client acquires the lock later; anotherAcquires means
	// that another client does.
	acquiresAgain, anotherAcquires bool
	// unknownScripts counts the nodes that did not know the script they were asked to run.
	unknownScripts int
}

// A sending is a message between a client and a node at the moment at which it is sent.
type sending struct {
	trace.NthMessage
	node string
}

// inFlight returns the point that is reached when the message is sent.
func (m sending) inFlight() trace.Point { return m.InFlight(m.Nth) }

// A class describes the place of an exchange in the workload. A fault has practically the
// same consequences in all exchanges of one class, so only one of them is tried.
type class struct {
	// step is the step of the call; "" means messages that the lock sends by itself. Work means
	// the time between two calls, in which the lock need not send anything.
	step trace.Step
	// granted means that an acquire was granted, afterFailure that the client's acquire
	// before it had failed.
	granted, afterFailure bool
	// reacquires means, for a release, that the client acquires the lock once more.
	reacquires bool
	// round is the number of the call's request to each node, from 1. Requests to run a
	// script that no node knew do not count.
	round int
}

// maxRounds is how many rounds of requests of one call are distinguished. Later rounds only
// repeat.
const maxRounds = 4

// record returns the traffic of a base, on a seed.
func (s *subject) record(b base, seed uint64) *record {
	name := fmt.Sprintf("%s %d", b.name, seed)
	if s.records[name] == nil {
		s.records[name] = s.recordTraffic(b, seed)
	}
	return s.records[name]
}

// recordTraffic runs a base and records the lock's traffic.
func (s *subject) recordTraffic(b base, seed uint64) *record {
	config, _, err := s.pace(b.config(s, seed))
	var tr *trace.Trace
	if err == nil {
		tr, err = sim.RunPatiently(config, s.config.Patience)
	}
	if errors.Is(err, sim.ErrLate) || errors.Is(err, sim.ErrMutex) {
		return &record{unusable: err.Error()}
	}
	if err != nil {
		return &record{unusable: "the lock fails even if nothing is wrong; see the test case " + undisturbedName}
	}
	r := &record{}
	isRecorded := map[class]bool{}
	for _, x := range exchanges(history.New(tr)) {
		if x.round <= maxRounds && !x.scriptUnknown() && !isRecorded[x.class] {
			isRecorded[x.class] = true
			r.exchanges = append(r.exchanges, *x)
		}
	}
	return r
}

// A turn is a call of the lock, or the time from that call to the client's next one. Both
// are identified by the call.
type turn struct {
	client      string
	call        *history.Call // nil before the client's first call
	isAfterCall bool
}

// A trafficReader reads the history of a run and collects the lock's exchanges.
type trafficReader struct {
	*history.History
	// nodes are the nodes that keep the lock.
	nodes []string
	// afterFailure has the calls of acquire for which the client's previous acquire failed.
	afterFailure map[*history.Call]bool
	// requestCounts counts the requests of each turn to each node. rounds has the exchanges
	// of each turn.
	requestCounts map[turn]map[string]int
	rounds        map[turn][]*exchange
	// exchangeOf has the exchange of each request.
	exchangeOf map[*history.Occasion]*exchange
	// allExchanges has the exchanges of all turns. hasWork means that the exchange of the
	// work between two calls has been added.
	allExchanges []*exchange
	hasWork      bool
}

// exchanges returns the exchanges between the clients and the nodes that keep the lock, in
// order.
func exchanges(h *history.History) []*exchange {
	l := &trafficReader{
		History: h, nodes: h.LockNodes(), afterFailure: map[*history.Call]bool{},
		requestCounts: map[turn]map[string]int{}, rounds: map[turn][]*exchange{}, exchangeOf: map[*history.Occasion]*exchange{},
	}
	failed := map[string]bool{}
	for _, c := range h.Calls() {
		if c.Step == trace.Acquire && c.Ended != nil {
			l.afterFailure[c], failed[c.Client] = failed[c.Client], c.Failed()
		}
	}
	for _, o := range h.Occasions() {
		// Messages between nodes are not sent by the lock.
		switch isLockTraffic := slices.Contains(l.nodes, o.Message.Peer) && h.Role(o.Message.Client) != trace.RoleNode; {
		case o.StepCall != nil || o.Arrived:
		case isLockTraffic && o.Request != nil:
			l.addReply(o)
		case isLockTraffic && !o.Message.Reply:
			l.addRequest(o)
		case o.Message.Reply && o.Event.Step == trace.Read:
			l.addWork(o)
		}
	}
	for _, turnExchanges := range l.rounds {
		n := 0
		for _, x := range turnExchanges {
			if !x.scriptUnknown() {
				n++
				x.round = n
			}
		}
	}
	return l.allExchanges
}

// scriptUnknown reports whether all nodes replied that they did not know the script. The
// client then sends the script's text.
func (x *exchange) scriptUnknown() bool {
	return x.unknownScripts > 0 && x.unknownScripts == len(x.replies)
}

// addRequest adds a request to the exchange that it belongs to.
func (l *trafficReader) addRequest(o *history.Occasion) {
	node := o.Message.Peer
	t := turn{o.Message.Client, o.Call, !o.IsInCall()}
	if l.requestCounts[t] == nil {
		l.requestCounts[t] = map[string]int{}
	}
	round := l.requestCounts[t][node]
	l.requestCounts[t][node]++
	if round == len(l.rounds[t]) {
		l.rounds[t] = append(l.rounds[t], l.newExchange(t, o.Event.Seq))
	}
	x := l.rounds[t][round]
	x.requests = append(x.requests, sending{o.Message, node})
	l.exchangeOf[o] = x
}

// addReply adds a reply to the exchange of its request.
func (l *trafficReader) addReply(o *history.Occasion) {
	x := l.exchangeOf[o.Request]
	x.replies = append(x.replies, sending{o.Message, o.Message.Peer})
	if history.UnknownScript(o.Event) {
		x.unknownScripts++
	}
}

// addWork adds an exchange for the work between two calls, when a client reads the storage
// for the first time. The storage's reply stands in for the messages of every node, so
// faults of nodes can strike at that moment.
func (l *trafficReader) addWork(o *history.Occasion) {
	if l.hasWork {
		return
	}
	l.hasWork = true
	x := l.addExchange(trace.StepPoint{Client: o.Message.Client, Step: trace.Work}, o.Event.Seq)
	x.class = class{step: trace.Work, round: 1}
	for _, node := range l.nodes {
		x.replies = append(x.replies, sending{o.Message, node})
	}
}

// newExchange adds an exchange that belongs to a turn and begins with the event seq.
func (l *trafficReader) newExchange(t turn, seq int) *exchange {
	if t.isAfterCall {
		return l.addExchange(trace.StepPoint{Client: t.client}, seq)
	}
	if t.call.Ended != nil {
		seq = t.call.Ended.Seq
	}
	x := l.addExchange(t.call.Point(), seq)
	acquired := t.call.Step == trace.Acquire && t.call.OK()
	x.class = class{
		step: t.call.Step, granted: acquired, afterFailure: acquired && l.afterFailure[t.call],
		reacquires: t.call.Step == trace.Release && x.acquiresAgain,
	}
	return x
}

// addExchange adds an exchange of a call, and notes which clients acquire the lock after
// the event with the number last.
func (l *trafficReader) addExchange(call trace.StepPoint, last int) *exchange {
	x := &exchange{call: call}
	for _, s := range l.Sections() {
		if s.Granted.Seq > last {
			x.acquiresAgain = x.acquiresAgain || s.Client == call.Client
			x.anotherAcquires = x.anotherAcquires || s.Client != call.Client
		}
	}
	l.allExchanges = append(l.allExchanges, x)
	return x
}
