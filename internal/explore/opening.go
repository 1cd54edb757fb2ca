package explore

import (
	"iter"
	"maps"
	"slices"

	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// promptStarts gives clients other than the first a better start: a moment at which they are
// granted the lock immediately, so that they do not ask in vain. If a fault causes that moment by
// making a node forget, promptStarts also tries this fault before other steps.
func promptStarts(rec *Record, w runs.WorldSpec) iter.Seq[runs.WorldSpec] {
	return func(yield func(runs.WorldSpec) bool) {
		for _, client := range clientsOf(rec, w)[1:] {
			for _, m := range openings(rec, w, client) {
				if m.point.Equal(w.Change.Starts[client]) {
					break // the openings after this one are no better
				}
				started := w
				started.Change.Starts = maps.Clone(w.Change.Starts)
				if started.Change.Starts == nil {
					started.Change.Starts = map[string]trace.Point{}
				}
				started.Change.Starts[client] = m.point
				if !yield(started) {
					return
				}
				for _, step := range m.steps {
					if !yield(replaceFault(started, m.fault, w.Faults[m.fault].WithTrigger(trace.Trigger{Before: step}))) {
						return
					}
				}
			}
		}
	}
}

// An opening is a point at which a client can probably be granted the lock. If a fault causes
// the opening, fault is the index of the fault, and steps are the steps of other clients before
// which the fault can strike.
type opening struct {
	point trace.Point
	fault int
	steps []trace.StepPoint
}

// openings returns the openings of one client, the best first. An earlier client is one that comes
// before this client in the list of clients. The openings are: a fault has made a node forget an
// earlier client; all keys of an earlier client have expired; and an earlier client has just
// acquired the lock.
func openings(rec *Record, w runs.WorldSpec, client string) []opening {
	var all []opening
	clients := clientsOf(rec, w)
	earlier := clients[:max(slices.Index(clients, client), 0)]
	var steps []trace.StepPoint
	for _, p := range slices.Backward(rec.Points) {
		if p.isStep() && slices.Contains(earlier, p.Process) {
			steps = append(steps, p.Strikes.Before)
		}
	}
	for i, f := range w.Faults {
		node := f.Target()
		if !slices.Contains(nodesOf(rec, w), node) {
			continue
		}
		add := func(h trace.Happening) { all = append(all, opening{trace.At(h), i, steps}) }
		for _, other := range earlier {
			add(trace.KeyExpired{Client: other, Node: node})
		}
		if event := effectPolicies[f.Effect()].aftermath.event; event != nil {
			add(event(node))
		}
	}
	for _, other := range earlier {
		all = append(all, opening{point: trace.At(trace.KeysExpired{Client: other})})
	}
	for _, other := range earlier {
		all = append(all, opening{point: trace.At(trace.Action{Process: other, Verb: trace.Acquired})})
	}
	return all
}

// An aftermath is the event on a node that a fault of that node causes. It is a good moment for
// another client to ask for the lock. event returns the event for a node. If event is nil, the
// fault has no aftermath, and whyNone explains why.
type aftermath struct {
	event   func(node string) trace.Happening
	whyNone string
}

// clockJumped returns the event that the clock of a node is set.
func clockJumped(node string) trace.Happening { return trace.ClockJumped{Process: node} }

// nodeAction returns a function from a node to the event of this verb.
func nodeAction(verb trace.Verb) func(string) trace.Happening {
	return func(node string) trace.Happening { return trace.Action{Process: node, Verb: verb} }
}

// untilCurrent lists the elements before the current one. It lists all if none is current.
func untilCurrent[E any](all []E, isCurrent func(E) bool) iter.Seq[E] {
	return func(yield func(E) bool) {
		for _, e := range all {
			if isCurrent(e) || !yield(e) {
				return
			}
		}
	}
}

// laterFaults makes faults strike as late in the run as possible. It prefers a moment
// before a step of a client. A moment at which a message is sent or arrives is harder to
// describe. A message that is held back is replaced by a later one of the same kind.
func laterFaults(rec *Record, w runs.WorldSpec) iter.Seq[runs.WorldSpec] {
	return func(yield func(runs.WorldSpec) bool) {
		for i, f := range w.Faults {
			if held, ok := f.Message(); ok {
				isHeld := func(m trace.NthMessage) bool { return m == held }
				for message := range untilCurrent(laterMessages(rec, w, held.Message), isHeld) {
					if !yield(replaceFault(w, i, f.WithMessage(message))) {
						return
					}
				}
			}
			for strikes := range untilCurrent(triggers(rec, w, f), f.Strikes.Equal) {
				if !yield(replaceFault(w, i, f.WithTrigger(strikes))) {
					return
				}
			}
		}
	}
}

// triggers returns the moments at which a fault can strike, the best first. A fault of a
// server can also strike at a step of a client. A fault that waits for a message needs no
// trigger.
func triggers(rec *Record, w runs.WorldSpec, f runs.Fault) []trace.Trigger {
	if kind, _ := sim.KindOf(f.Action); kind.IsPatient() {
		return []trace.Trigger{{}}
	}
	var steps, messages []trace.Trigger
	strikesClient := slices.Contains(rec.Clients, f.Target())
	for _, p := range slices.Backward(rec.Points) {
		switch {
		case hasAbsent(rec, w, append(p.Strikes.When.Names(), p.Process)):
		case p.Process != f.Target() && (strikesClient || !p.isStep()):
		case p.isStep():
			steps = append(steps, p.Strikes)
		default:
			messages = append(messages, p.Strikes)
		}
	}
	return append(steps, messages...)
}

// laterMessages returns the messages that have the same client and the same kind as held, a message
// that a fault holds back. The last message comes first. Messages to different nodes are of the
// same kind.
func laterMessages(rec *Record, w runs.WorldSpec, held trace.Message) []trace.NthMessage {
	kindOf := func(m trace.Message) trace.Message {
		if slices.Contains(rec.Nodes, m.Peer) {
			m.Peer = ""
		}
		return m
	}
	var all []trace.NthMessage
	for _, m := range slices.Backward(rec.Messages) {
		if kindOf(m.Message) == kindOf(held) && !hasAbsent(rec, w, m.Names()) {
			all = append(all, m.NthMessage)
		}
	}
	return all
}

// hasAbsent reports whether one of the names is that of a client or a node that the world
// does not have.
func hasAbsent(rec *Record, w runs.WorldSpec, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return slices.Contains(rec.Clients, name) && !slices.Contains(clientsOf(rec, w), name) ||
			slices.Contains(rec.Nodes, name) && !slices.Contains(nodesOf(rec, w), name)
	})
}
