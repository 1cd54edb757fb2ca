package locktest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A record is what a base story, told without any fault, shows of the lock's own
// traffic.
type record struct {
	// exchanges has one of each class, in the order in which they happen.
	exchanges []exchange
	// useless says why there is nothing to learn from it, or is "".
	useless string
}

// An exchange is what one call of the lock asks all of its nodes at once, and what
// they answer.
type exchange struct {
	class
	// call is the client's call of the lock.
	call trace.StepPoint
	// requests has one for each node, in the order in which they are sent, replies
	// what was answered.
	requests, replies []sending
	// ownNext and another say that the client, or another one, gets the lock later.
	ownNext, another bool
	// unknown counts the nodes that did not know the script they were to run.
	unknown int
}

// A sending is when a message is sent, as far as it concerns one node.
type sending struct {
	trace.NthMessage
	node string
}

// inFlight is the point at which the message is sent.
func (m sending) inFlight() trace.Point { return m.InFlight(m.Nth) }

// A class is a place in a story. Exchanges of one class are as good as the same,
// and one of them is enough.
type class struct {
	// step is that of the call, "" for what the lock sends by itself, and Work for
	// the time between two calls, in which it need not send anything.
	step trace.Step
	// granted says of an acquire that it was, and again that it had failed before.
	granted, again bool
	// returns says of a release that the client gets the lock once more.
	returns bool
	// round is which of the call's requests to a node it is, from 1, without those that
	// came to nothing.
	round int
}

// rounds is how many requests of one call to one node are told apart. What comes
// then is the same again.
const rounds = 4

// record is the traffic of a base story, on a seed.
func (s *subject) record(b base, seed uint64) *record {
	name := fmt.Sprintf("%s %d", b.name, seed)
	if s.records[name] == nil {
		s.records[name] = s.listen(b, seed)
	}
	return s.records[name]
}

// listen tells a base story and takes down the lock's traffic.
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
		return &record{useless: "the lock fails before anything is wrong, see the story " + undisturbed}
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

// A turn is a call of the lock, or the time after it until the client's next.
type turn struct {
	client string
	call   *history.Call // nil before the first
	over   bool
}

// A listener goes through a run.
type listener struct {
	*history.History
	// nodes are those that the lock is kept on.
	nodes []string
	// again are the calls of acquire whose client had failed with the one before.
	again map[*history.Call]bool
	// asked counts the requests of each turn to each node, rounds are its exchanges.
	asked  map[turn]map[string]int
	rounds map[turn][]*exchange
	// of has the exchange of each request.
	of     map[*history.Occasion]*exchange
	found  []*exchange
	atWork bool
}

// exchanges finds what was said between the clients and the nodes that the lock is
// kept on, in order.
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
		// What nodes tell each other is not the lock's to get right.
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

// vain says that no node did what it was asked to, because it did not know the
// script: then it is asked once more.
func (x *exchange) vain() bool { return x.unknown > 0 && x.unknown == len(x.replies) }

// request adds a request to the exchange that it belongs to.
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

// reply adds a reply to the exchange of its request.
func (l *listener) reply(o *history.Occasion) {
	x := l.of[o.Answers]
	x.replies = append(x.replies, sending{o.Message, o.Message.Peer})
	if history.UnknownScript(o.Event) {
		x.unknown++
	}
}

// work takes a client's read of the storage, once, for the beginning of its work.
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

// exchange adds one of a turn that begins with the event seq.
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

// add adds an exchange of a call that is over with the event last.
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
