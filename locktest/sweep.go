package locktest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/trace"
)

// This file makes the systematic test cases. A base, which is a workload, first runs without
// any trouble, and the lock's own messages in that run are recorded. Then the base runs again,
// once for each of these messages and each kind of trouble. In none of these runs does a node
// lose a key or end it early. So if two leases overlap, that is the lock's fault.

// undisturbedName is the name of the test case in which nothing is wrong.
const undisturbedName = "undisturbed"

// sweepCases returns the systematic test cases.
func sweepCases() []testCase {
	all := []testCase{{
		name: undisturbedName, title: "nothing goes wrong",
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

// backgroundName is the name, in test cases, of the messages that the lock sends by itself,
// outside of any call.
const backgroundName = "meanwhile"

// sweepCase returns the test case in which a trouble strikes the lock's messages of one step, on as
// many nodes as the extent says, such as a majority.
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

// disturb makes the worlds in which a trouble strikes one exchange of a base, which is a round of
// requests to the nodes and their replies. It makes a world for each moment of the exchange, each
// group of nodes and each duration.
func (s *subject) disturb(b base, seed uint64, t trouble, e extent, x exchange) (worlds []world) {
	moments := t.moments
	if x.step == trace.Work {
		moments = []moment{onReply} // the storage's reply is the only message of this exchange
	}
	for _, moment := range moments {
		for _, struck := range e.choose(x.sendingsOn(moment)) {
			for _, d := range t.durations {
				switch {
				case d.isPossible != nil && !d.isPossible(x), d.moments != nil && !slices.Contains(d.moments, moment):
					continue
				case d.needsAllNodes && e.name == "" && s.config.Nodes > 1:
					continue
				}
				config := b.config(s, seed)
				injection := injection{duration: d, moment: moment, call: x.call, sendings: struck}
				for _, c := range config.Clients {
					if c.Name != x.call.Client {
						injection.others = append(injection.others, c.Name)
					}
				}
				config.Faults = t.faults(injection)
				worlds = append(worlds, world{name: b.name + "," + injection.name(e, len(moments)), config: config})
			}
		}
	}
	return worlds
}

// sendingsOn returns the messages of an exchange that a trouble strikes at the moment s.
func (x exchange) sendingsOn(s moment) []sending {
	switch {
	case s == onRequest:
		return x.requests
	case s == onReply:
		return x.replies
	case x.round == 1 && x.step.AtLock():
		return x.requests[:1] // before the call no message exists, so one node is enough to name the moment
	}
	return nil
}

// name returns the part of the world's name that distinguishes this injection from the
// others of the same trouble and extent. If the trouble has several moments, it contains
// the moment.
func (b injection) name(e extent, momentCount int) string {
	m := b.sendings[0]
	parts := []string{b.client()}
	if e.name == "" {
		parts = append(parts, m.node)
	}
	parts = append(parts, fmt.Sprint(m.Nth))
	if momentCount > 1 {
		parts = append(parts, string(b.moment))
	}
	if b.duration.name != "" {
		parts = append(parts, b.duration.name)
	}
	return strings.Join(parts, ",")
}
