package locktest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/trace"
)

// The systematic test cases. A base is run without any trouble, and the lock's own messages
// in it are recorded. Then it is run again once for each of these messages and each kind of
// trouble. In none of these runs does a node lose a key or end it early: if a lease
// overlaps another, that is the lock's fault.

// undisturbed is the name of the test case in which nothing is wrong.
const undisturbed = "undisturbed"

// sweepCases returns the systematic test cases.
func sweepCases() []testCase {
	all := []testCase{{
		name: undisturbed, title: "nothing goes wrong",
		worlds: func(s *subject, seed uint64) (worlds []world, notApplicable string, err error) {
			for _, b := range bases {
				worlds = append(worlds, world{name: b.name, config: b.config(s, seed)})
			}
			return worlds, "", nil
		},
	}}
	for _, t := range troubles {
		for _, step := range t.steps() {
			for _, e := range t.extents() {
				all = append(all, sweepCase(t, step, e))
			}
		}
	}
	return all
}

// backgroundName is the name for the messages that belong to no call of the lock.
const backgroundName = "meanwhile"

func sweepCase(t trouble, step trace.Step, e extent) testCase {
	name, title := string(step), fmt.Sprintf("%s: %s", step, t.title)
	switch step {
	case "":
		name, title = backgroundName, "what the lock sends by itself: "+t.title
	case trace.Work:
		title = "between two calls of the lock: " + t.title
	}
	name = t.name + "/" + name
	if e.name != "" {
		name += "/" + e.name
	}
	return testCase{name: name, title: title + e.title, worlds: func(s *subject, seed uint64) (worlds []world, notApplicable string, err error) {
		if e.name != "" && s.config.Nodes == 1 {
			return nil, "the lock has only one node", nil
		}
		if system := s.config.system(); t.effect == trace.AnswersErrors && system.Failure == "" {
			return nil, "a " + system.Node + " does not answer with errors", nil
		}
		for _, b := range bases {
			if b.worthTrying != nil && !b.worthTrying(t, step, e) {
				continue
			}
			r := s.record(b, seed)
			if r.unusable != "" {
				return nil, r.unusable, nil
			}
			for _, x := range r.exchanges {
				if x.step == step {
					worlds = append(worlds, s.disturb(b, seed, t, e, x)...)
				}
			}
		}
		if len(worlds) == 0 {
			return nil, "there is no such message", nil
		}
		return worlds, "", nil
	}}
}

// disturb makes the worlds in which a trouble strikes an exchange.
func (s *subject) disturb(b base, seed uint64, t trouble, e extent, x exchange) (worlds []world) {
	sides := t.sides
	if x.step == trace.Work {
		sides = []side{onReply} // of the storage
	}
	for _, side := range sides {
		for _, struck := range e.choose(x.sendingsOn(side)) {
			for _, w := range t.ways {
				switch {
				case w.isPossible != nil && !w.isPossible(x), w.sides != nil && !slices.Contains(w.sides, side):
					continue
				case w.needsAllNodes && e.name == "" && s.config.Nodes > 1:
					continue
				}
				config := b.config(s, seed)
				injection := injection{way: w, side: side, call: x.call, sendings: struck}
				for _, c := range config.Clients {
					if c.Name != x.call.Client {
						injection.others = append(injection.others, c.Name)
					}
				}
				config.Faults = t.faults(injection)
				worlds = append(worlds, world{name: b.name + "," + injection.name(e, len(sides)), config: config})
			}
		}
	}
	return worlds
}

// sendingsOn returns the sendings on one side of an exchange.
func (x exchange) sendingsOn(s side) []sending {
	switch {
	case s == onRequest:
		return x.requests
	case s == onReply:
		return x.replies
	case x.round == 1 && x.step.AtLock():
		return x.requests[:1] // before the call, no node has a message yet
	}
	return nil
}

// name returns a name that distinguishes the injections of a trouble with an extent and
// this many sides.
func (b injection) name(e extent, sides int) string {
	m := b.sendings[0]
	parts := []string{b.client()}
	if e.name == "" {
		parts = append(parts, m.node)
	}
	parts = append(parts, fmt.Sprint(m.Nth))
	if sides > 1 {
		parts = append(parts, string(b.side))
	}
	if b.way.name != "" {
		parts = append(parts, b.way.name)
	}
	return strings.Join(parts, ",")
}
