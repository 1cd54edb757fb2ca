package explore

import (
	"iter"
	"maps"
	"slices"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// goodMoments has clients but the first start when they are let in at once, so that
// they do not ask in vain. If that is when a fault makes a node forget, the fault may
// have to strike at another step.
func goodMoments(rec *Record, w World) iter.Seq[World] {
	return func(yield func(World) bool) {
		for _, client := range clients(rec, w)[1:] {
			for _, m := range moments(rec, w, client) {
				if m.at == w.Change.Starts[client] {
					break // what follows is no better
				}
				started := w
				started.Change.Starts = maps.Clone(w.Change.Starts)
				if started.Change.Starts == nil {
					started.Change.Starts = map[string]string{}
				}
				started.Change.Starts[client] = m.at
				if !yield(started) {
					return
				}
				for _, before := range m.steps {
					f := w.Faults[m.fault]
					f.Before, f.When = before, ""
					if !yield(started.replacing(m.fault, f)) {
						return
					}
				}
			}
		}
	}
}

// A moment is a point at which a client may be let in. If it is one that a fault brings
// about, steps are those of others before which that may be.
type moment struct {
	at    string
	fault int
	steps []string
}

// moments are those for one client, the best first: when a fault has made a node forget
// an earlier client, when all keys of an earlier client have expired, and as soon as
// one holds the lock.
func moments(rec *Record, w World, client string) []moment {
	var all []moment
	present := clients(rec, w)
	earlier := present[:max(slices.Index(present, client), 0)]
	var steps []string
	for _, p := range slices.Backward(rec.Points) {
		if p.Before != "" && slices.Contains(earlier, p.Process) {
			steps = append(steps, p.Before)
		}
	}
	for i, f := range w.Faults {
		if !slices.Contains(nodesOf(rec, w), f.Target) {
			continue
		}
		add := func(at string) { all = append(all, moment{at, i, steps}) }
		for _, other := range earlier {
			add(other + "'s key expired on " + f.Target)
		}
		switch f.Kind {
		case "jump":
			add(f.Target + "'s clock jumped")
		case "crash":
			add(f.Target + " restarted")
		case "pause":
			add(f.Target + " resumed")
		}
	}
	for _, other := range earlier {
		all = append(all, moment{at: other + "'s keys expired"})
	}
	for _, other := range earlier {
		all = append(all, moment{at: other + " acquired"})
	}
	return all
}

// better lists what comes before what there is now; all if that is not in the list.
func better[E comparable](all []E, now E) iter.Seq[E] {
	return func(yield func(E) bool) {
		for _, e := range all {
			if e == now || !yield(e) {
				return
			}
		}
	}
}

// later has faults strike later in the story: before a step rather than at a message,
// which people find harder to tell, and as late as possible. Instead of a message that
// is held it has a later one of the same kind held.
func later(rec *Record, w World) iter.Seq[World] {
	return func(yield func(World) bool) {
		for i, f := range w.Faults {
			if f.Kind == "hold" {
				for message := range better(laterMessages(rec, w, f), f.Target) {
					held := f
					held.Target = message
					if !yield(w.replacing(i, held)) {
						return
					}
				}
			}
			for at := range better(strikes(rec, w, f), strike{f.Before, f.When}) {
				f.Before, f.When = at.before, at.when
				if !yield(w.replacing(i, f)) {
					return
				}
			}
		}
	}
}

// A strike is when a fault strikes.
type strike struct{ before, when string }

// strikes are the points at which a fault can strike, the best first. A fault of a
// server can wait for a client's step. One that waits for a message need not be told
// when to.
func strikes(rec *Record, w World, f Fault) []strike {
	if slices.ContainsFunc(sim.FaultKinds(), func(k sim.FaultKind) bool { return k.Name == f.Kind && k.Patient }) {
		return []strike{{}}
	}
	var steps, messages []strike
	ofClient := slices.Contains(rec.Clients, f.Target)
	for _, p := range slices.Backward(rec.Points) {
		switch {
		case absent(rec, w, p.Before+" "+p.When):
		case p.Process != f.Target && (ofClient || p.Before == ""):
		case p.Before != "":
			steps = append(steps, strike{before: p.Before})
		default:
			messages = append(messages, strike{when: p.When})
		}
	}
	return append(steps, messages...)
}

// laterMessages are the messages of the same client and the same kind as the one that
// is held, the last first.
func laterMessages(rec *Record, w World, f Fault) []string {
	held, _, ok := heldMessage(f)
	if !ok {
		return nil
	}
	kind := func(m trace.Message) trace.Message {
		if slices.Contains(rec.Nodes, m.Peer) {
			m.Peer = ""
		}
		return m
	}
	var all []string
	for _, m := range slices.Backward(rec.Messages) {
		if kind(m.Message) == kind(held) && !absent(rec, w, m.Message.String()) {
			all = append(all, m.held())
		}
	}
	return all
}

// absent says that a text speaks of a client or a node that the world does not have.
func absent(rec *Record, w World, text string) bool {
	return slices.ContainsFunc(spokenOf(text), func(name string) bool {
		return slices.Contains(rec.Clients, name) && !slices.Contains(clients(rec, w), name) ||
			slices.Contains(rec.Nodes, name) && !slices.Contains(nodesOf(rec, w), name)
	})
}
