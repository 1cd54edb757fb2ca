package locktest

import (
	"errors"
	"fmt"
	"strings"

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
	requests, replies []moment
	// ownNext and another say that the client, or another one, gets the lock later.
	ownNext, another bool
	// unknown counts the nodes that did not know the script they were to run.
	unknown int
}

// A moment is when a message is sent, as far as it concerns one node.
type moment struct {
	trace.Message
	// nth is which of its kind it is in the run, from 1.
	nth  int
	node string
}

// inFlight is the point at which the message is sent.
func (m moment) inFlight() trace.Point { return m.InFlight(m.nth) }

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
	tr, err := sim.RunPatiently(b.config(s, seed), patience)
	if errors.Is(err, sim.ErrLate) {
		return &record{useless: err.Error()}
	}
	if err != nil {
		return &record{useless: "the lock fails before anything is wrong, see the story " + undisturbed}
	}
	r := &record{}
	taken := map[class]bool{}
	for _, x := range exchanges(tr) {
		if x.round <= rounds && !x.vain() && !taken[x.class] {
			taken[x.class] = true
			r.exchanges = append(r.exchanges, *x)
		}
	}
	return r
}

// A call is a call of the lock that is under way, or the time between two of a
// client's.
type call struct {
	point trace.StepPoint
	// last is the event of the trace that ends it, and ok whether it was successful.
	last int
	ok   bool
	// again says that the client had tried before.
	again bool
	// asked counts the requests to each node.
	asked map[string]int
}

// A wire is a connection.
type wire struct {
	client, node string
	number       int
}

// A listener goes through a trace.
type listener struct {
	*trace.Trace
	nodes []string
	// calls has, for each event, the call that its process was in.
	calls []*call
	sent  map[trace.Message]int
	// unanswered are the exchanges of the requests on a connection that have no reply
	// yet.
	unanswered map[wire][]*exchange
	found      []*exchange
	rounds     map[*call][]*exchange
	atWork     bool
}

// exchanges finds what was said between the clients and the nodes that the lock is
// kept on, in order.
func exchanges(t *trace.Trace) []*exchange {
	l := &listener{
		Trace: t, calls: calls(t),
		sent: map[trace.Message]int{}, unanswered: map[wire][]*exchange{}, rounds: map[*call][]*exchange{},
	}
	kept := map[string]bool{}
	for _, slot := range t.Locks[0].Slots {
		if !kept[slot.Node] {
			kept[slot.Node] = true
			l.nodes = append(l.nodes, slot.Node)
		}
	}
	for i := range t.Events {
		ev := &t.Events[i]
		if ev.Kind != trace.KindSend || ev.Handshake {
			continue
		}
		w := wire{ev.Process, ev.Peer, ev.Conn}
		if ev.Reply {
			w.client, w.node = ev.Peer, ev.Process
		}
		switch m := l.moment(ev, w); {
		case kept[w.node] && ev.Reply:
			l.reply(w, m, ev.Text)
		case kept[w.node]:
			l.request(i, w, m)
		case ev.Reply && ev.Step == trace.Read:
			l.work(i, m)
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

// moment counts a message.
func (l *listener) moment(ev *trace.Event, w wire) moment {
	m := moment{Message: trace.Message{Client: w.client, Peer: w.node, Step: ev.Step, Reply: ev.Reply}, node: w.node}
	// A selection that names no step counts the messages of all steps.
	every := m.Message
	every.Step = ""
	l.sent[every]++
	if m.Step != "" {
		l.sent[m.Message]++
	}
	if w.node != trace.StorageName && !atLock(m.Step) {
		m.Message = every
	}
	m.nth = l.sent[m.Message]
	return m
}

// request adds a request to the exchange that it belongs to.
func (l *listener) request(i int, w wire, m moment) {
	c := l.calls[i]
	round := c.asked[w.node]
	c.asked[w.node]++
	if round == len(l.rounds[c]) {
		x := l.exchange(c.point, max(c.last, i))
		x.class = class{
			step: c.point.Step, granted: c.ok && c.point.Step == trace.Acquire, again: c.ok && c.again,
			returns: c.point.Step == trace.Release && x.ownNext,
		}
		l.rounds[c] = append(l.rounds[c], x)
	}
	x := l.rounds[c][round]
	x.requests = append(x.requests, m)
	l.unanswered[w] = append(l.unanswered[w], x)
}

// reply adds a reply to the exchange of the first request that has none.
func (l *listener) reply(w wire, m moment, text string) {
	if asked := l.unanswered[w]; len(asked) > 0 {
		l.unanswered[w] = asked[1:]
		asked[0].replies = append(asked[0].replies, m)
		if strings.HasPrefix(text, "NOSCRIPT") {
			asked[0].unknown++
		}
	}
}

// work takes a client's read of the storage, once, for the beginning of its work.
func (l *listener) work(i int, m moment) {
	if l.atWork {
		return
	}
	l.atWork = true
	x := l.exchange(trace.StepPoint{Client: m.Client, Step: trace.Work}, i)
	x.class = class{step: trace.Work, round: 1}
	for _, m.node = range l.nodes {
		x.replies = append(x.replies, m)
	}
}

// exchange adds one whose call is over with an event.
func (l *listener) exchange(call trace.StepPoint, last int) *exchange {
	x := &exchange{call: call}
	for i := last + 1; i < len(l.Events); i++ {
		if ev := &l.Events[i]; ev.Kind == trace.KindEnd && ev.Step == trace.Acquire && ev.OK {
			x.ownNext = x.ownNext || ev.Process == call.Client
			x.another = x.another || ev.Process != call.Client
		}
	}
	l.found = append(l.found, x)
	return x
}

// atLock says whether a step is a call of the lock.
func atLock(s trace.Step) bool { return s == trace.Acquire || s == trace.Extend || s == trace.Release }

// calls finds, for each event, which call of the lock its process was in.
func calls(t *trace.Trace) []*call {
	of := make([]*call, len(t.Events))
	now := map[string]*call{}
	failed := map[string]bool{}
	counted := map[trace.StepPoint]int{}
	for i := range t.Events {
		ev := &t.Events[i]
		p := trace.StepPoint{Client: ev.Process}
		begins := ev.Kind == trace.KindBegin && atLock(ev.Step)
		if begins {
			p.Step = ev.Step
			counted[p]++
			p.Nth = counted[p]
		}
		if begins || now[ev.Process] == nil {
			now[ev.Process] = &call{point: p, asked: map[string]int{}}
		}
		c := now[ev.Process]
		of[i] = c
		if ev.Kind == trace.KindEnd && atLock(ev.Step) && ev.Step == c.point.Step {
			c.ok, c.last = ev.OK, i
			if ev.Step == trace.Acquire {
				c.again, failed[ev.Process] = failed[ev.Process], !ev.OK
			}
			delete(now, ev.Process)
		}
	}
	return of
}
