package explore

import (
	"iter"
	"maps"
	"slices"

	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// goodMoments has clients but the first start when they are let in at once, so that
// they do not ask in vain. If that is when a fault makes a node forget, the fault may
// have to strike at another step.
func goodMoments(rec *Record, w runs.World) iter.Seq[runs.World] {
	return func(yield func(runs.World) bool) {
		for _, client := range clients(rec, w)[1:] {
			for _, m := range openings(rec, w, client) {
				if m.at.Equal(w.Change.Starts[client]) {
					break // what follows is no better
				}
				started := w
				started.Change.Starts = maps.Clone(w.Change.Starts)
				if started.Change.Starts == nil {
					started.Change.Starts = map[string]trace.Point{}
				}
				started.Change.Starts[client] = m.at
				if !yield(started) {
					return
				}
				for _, before := range m.steps {
					if !yield(replacing(started, m.fault, w.Faults[m.fault].At(trace.Trigger{Before: before}))) {
						return
					}
				}
			}
		}
	}
}

// An opening is a point at which a client may be let in. If it is one that a fault brings
// about, steps are those of others before which that may be.
type opening struct {
	at    trace.Point
	fault int
	steps []trace.StepPoint
}

// openings are those for one client, the best first: when a fault has made a node forget
// an earlier client, when all keys of an earlier client have expired, and as soon as
// one holds the lock.
func openings(rec *Record, w runs.World, client string) []opening {
	var all []opening
	present := clients(rec, w)
	earlier := present[:max(slices.Index(present, client), 0)]
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
		if over := effects[f.Effect()].leaves.happens; over != nil {
			add(over(node))
		}
	}
	for _, other := range earlier {
		all = append(all, opening{at: trace.At(trace.KeysExpired{Client: other})})
	}
	for _, other := range earlier {
		all = append(all, opening{at: trace.At(trace.Did{Process: other, Verb: trace.Acquired})})
	}
	return all
}

// A remainder is what happens when a fault has done to a node what it does: a good moment
// for another client to ask; or why there is no such point.
type remainder struct {
	happens func(node string) trace.Happening
	none    string
}

func clockJumped(node string) trace.Happening { return trace.ClockJumped{Process: node} }

func didThen(verb trace.Verb) func(string) trace.Happening {
	return func(node string) trace.Happening { return trace.Did{Process: node, Verb: verb} }
}

// better lists what comes before what there is now; all if that is not in the list.
func better[E any](all []E, isNow func(E) bool) iter.Seq[E] {
	return func(yield func(E) bool) {
		for _, e := range all {
			if isNow(e) || !yield(e) {
				return
			}
		}
	}
}

// later has faults strike later in the story: before a step rather than at a message,
// which people find harder to tell, and as late as possible. Instead of a message that
// is held it has a later one of the same kind held.
func later(rec *Record, w runs.World) iter.Seq[runs.World] {
	return func(yield func(runs.World) bool) {
		for i, f := range w.Faults {
			if held, ok := f.Message(); ok {
				now := func(m trace.NthMessage) bool { return m == held }
				for message := range better(laterMessages(rec, w, held.Message), now) {
					if !yield(replacing(w, i, f.WithMessage(message))) {
						return
					}
				}
			}
			for strikes := range better(strikes(rec, w, f), f.Strikes.Equal) {
				if !yield(replacing(w, i, f.At(strikes))) {
					return
				}
			}
		}
	}
}

// strikes are the points at which a fault can strike, the best first. A fault of a
// server can wait for a client's step. One that waits for a message need not be told
// when to.
func strikes(rec *Record, w runs.World, f runs.Fault) []trace.Trigger {
	if kind, _ := sim.KindOf(f.Action); kind.Patient() {
		return []trace.Trigger{{}}
	}
	var steps, messages []trace.Trigger
	ofClient := slices.Contains(rec.Clients, f.Target())
	for _, p := range slices.Backward(rec.Points) {
		switch {
		case absent(rec, w, append(p.Strikes.When.Names(), p.Process)):
		case p.Process != f.Target() && (ofClient || !p.isStep()):
		case p.isStep():
			steps = append(steps, p.Strikes)
		default:
			messages = append(messages, p.Strikes)
		}
	}
	return append(steps, messages...)
}

// laterMessages are the messages of the same client and the same kind as one that is
// held, the last first.
func laterMessages(rec *Record, w runs.World, held trace.Message) []trace.NthMessage {
	kind := func(m trace.Message) trace.Message {
		if slices.Contains(rec.Nodes, m.Peer) {
			m.Peer = ""
		}
		return m
	}
	var all []trace.NthMessage
	for _, m := range slices.Backward(rec.Messages) {
		if kind(m.Message) == kind(held) && !absent(rec, w, m.Names()) {
			all = append(all, m.NthMessage)
		}
	}
	return all
}

// absent says that one of some names is that of a client or a node that the world does
// not have.
func absent(rec *Record, w runs.World, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return slices.Contains(rec.Clients, name) && !slices.Contains(clients(rec, w), name) ||
			slices.Contains(rec.Nodes, name) && !slices.Contains(nodesOf(rec, w), name)
	})
}
