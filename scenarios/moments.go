package scenarios

import (
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// This file translates the points of a scenario for a lock that is not the scenario's own, and
// finds those that can never be reached with that lock. A point is a condition such as "client-1
// acquired", which says when a fault strikes or a client starts.

// adaptPoints translates the points at which something begins or ends.
//
// With another lock, a client may wait in a queue or for a silent server instead of failing to
// acquire. So a point at which a client has failed to acquire is also reached some time after the
// client has asked: the time for which it pauses between two attempts. A fault that strikes at such
// a point still needs the failure itself, because the client may be granted the lock instead.
//
// An acquire of another lock can take several requests. If one server or a cluster keeps its
// grants, the moment at which all replies are in flight becomes the moment of the grant. Servers
// that agree on each grant have no keys of their own, so the end of a key on one of them becomes
// the end of the grant.
func adaptPoints(c sim.Config) sim.Config {
	pauses := map[string]time.Duration{}
	for _, client := range c.Clients {
		pauses[client.Name] = client.RetryEvery
	}
	keeper := grantKeeper(c)
	translate := func(p trace.Point, isStrike bool) trace.Point {
		p = replaceAlternatives(p, func(alternative trace.Alternative) []trace.Alternative {
			switch h := alternative.Happening.(type) {
			case trace.Action:
				if h.Verb != trace.NotAcquired || isStrike {
					break
				}
				asked := alternative
				asked.Delay += time.Duration(max(alternative.Nth, 1)) * pauses[h.Process]
				asked.Nth = min(alternative.Nth, 1)
				asked.Happening = trace.Action{Process: h.Process, Verb: trace.Asked}
				return []trace.Alternative{alternative, asked}
			case trace.Transit:
				if keeper != "" && h.Peer == "" && h.Reply && h.Step == trace.Acquire && !h.Arrived {
					alternative.Happening = trace.HoldsNode{Client: h.Client, Node: keeper}
				}
			}
			return []trace.Alternative{alternative}
		})
		if keepsInCluster(c.Lock.Kind) {
			p = joinKeys(p)
		}
		return p
	}
	for i := range c.Clients {
		client := &c.Clients[i]
		client.Starts, client.WorksUntil, client.Cancels = translate(client.Starts, false), translate(client.WorksUntil, false), translate(client.Cancels, false)
	}
	for i := range c.Faults {
		f := &c.Faults[i]
		f.Strikes.When, f.Until = translate(f.Strikes.When, true), translate(f.Until, false)
	}
	return c
}

// joinKeys replaces the expiry of a client's key on one server by the expiry of all its keys.
func joinKeys(p trace.Point) trace.Point {
	return replaceAlternatives(p, func(alternative trace.Alternative) []trace.Alternative {
		if key, ok := alternative.Happening.(trace.KeyExpired); ok {
			alternative.Happening = trace.KeysExpired{Client: key.Client}
		}
		return []trace.Alternative{alternative}
	})
}

// startWatchers changes the starts of clients for a lock whose grants no server ends. Another
// client takes over such a lock only after it has watched the grant. So a client that would start
// when the keys of the holder expire starts when the holder has set them.
func startWatchers(c sim.Config) sim.Config {
	for i := range c.Clients {
		c.Clients[i].Starts = replaceAlternatives(c.Clients[i].Starts, func(alternative trace.Alternative) []trace.Alternative {
			switch h := alternative.Happening.(type) {
			case trace.KeysExpired:
				alternative.Happening = trace.HoldsNode{Client: h.Client, Node: c.Nodes[0].Name}
			case trace.KeyExpired:
				alternative.Happening = trace.HoldsNode(h)
			}
			return []trace.Alternative{alternative}
		})
	}
	return c
}

// replaceAlternatives returns the point with each of its alternatives replaced by others.
func replaceAlternatives(p trace.Point, replace func(trace.Alternative) []trace.Alternative) trace.Point {
	var alternatives []trace.Alternative
	for _, c := range p.Alternatives() {
		alternatives = append(alternatives, replace(c)...)
	}
	return trace.AnyOf(alternatives...)
}

// adaptWitness translates a witness for a lock that is not the scenario's own. The run judges
// the lock's answers, so an answer cannot be a precondition. In a witness that an answer came
// after another event, any answer counts. In most other witnesses it is enough that the client
// asked; the cases below say which answers are replaced.
func adaptWitness(w trace.Witness) trace.Witness {
	asked := func(verbs ...trace.Verb) func(trace.Alternative) []trace.Alternative {
		return func(alternative trace.Alternative) []trace.Alternative {
			switch h := alternative.Happening.(type) {
			case trace.Action:
				if slices.Contains(verbs, h.Verb) {
					alternative.Happening = trace.Action{Process: h.Process, Verb: trace.Asked}
					if h.Verb != trace.Acquired { // a client asks once for several writes, and once if it waits in a queue
						alternative.Nth = 0
					}
				}
			case trace.HoldsNode:
				alternative.Happening = trace.Action{Process: h.Client, Verb: trace.Asked}
			}
			return []trace.Alternative{alternative}
		}
	}
	answered := func(alternative trace.Alternative) []trace.Alternative {
		h, ok := alternative.Happening.(trace.Action)
		if !ok || h.Verb != trace.Acquired && h.Verb != trace.NotAcquired {
			return []trace.Alternative{alternative}
		}
		granted, refused := alternative, alternative
		granted.Happening, refused.Happening = trace.Action{Process: h.Process, Verb: trace.Acquired}, trace.Action{Process: h.Process, Verb: trace.NotAcquired}
		return []trace.Alternative{granted, refused}
	}
	isGrant := func(c trace.Alternative) bool {
		h, ok := c.Happening.(trace.Action)
		return ok && h.Verb == trace.Acquired
	}
	isWork := func(c trace.Alternative) bool {
		h, ok := c.Happening.(trace.Action)
		return ok && h.Verb == trace.Worked
	}
	switch {
	case w.Relation == trace.After:
		w.Point = replaceAlternatives(w.Point, answered)
	case slices.ContainsFunc(w.Other.Alternatives(), isWork): // a whole section while another client is at work
		w.Point = replaceAlternatives(w.Point, asked(trace.Acquired, trace.NotAcquired, trace.Wrote, trace.Released))
	case slices.ContainsFunc(w.Other.Alternatives(), isGrant): // one section comes before another
		w.Point = replaceAlternatives(w.Point, asked(trace.NotAcquired))
	default:
		w.Point = replaceAlternatives(w.Point, asked(trace.Acquired, trace.NotAcquired, trace.Wrote))
	}
	w.Other = replaceAlternatives(w.Other, asked(trace.NotAcquired))
	return w
}

// checkPoints returns an error if something in the world begins, works or ends at a point
// that can never be reached with the lock.
func checkPoints(c sim.Config, witnesses []trace.Witness) error {
	refuse := func(what string, p trace.Point) error {
		var why string
		for _, alternative := range p.Alternatives() {
			if why = whyNever(c, alternative.Happening); why == "" {
				return nil
			}
		}
		if why == "" {
			return nil
		}
		return fmt.Errorf("%s %s: %s", what, p.Phrase(), why)
	}
	for _, client := range c.Clients {
		for _, at := range []struct {
			verb  string
			point trace.Point
		}{{"starts", client.Starts}, {"works until", client.WorksUntil}, {"cancels", client.Cancels}} {
			if err := refuse(client.Name+" "+at.verb, at.point); err != nil {
				return err
			}
		}
	}
	for i, f := range c.Faults {
		for _, at := range []struct {
			verb  string
			point trace.Point
		}{{"strikes", f.Strikes.When}, {"ends", f.Until}} {
			if err := refuse(fmt.Sprintf("fault %d (%s) %s", i+1, f.Text, at.verb), at.point); err != nil {
				return err
			}
		}
	}
	for _, w := range witnesses {
		for _, p := range []trace.Point{w.Point, w.Other} {
			if err := refuse(fmt.Sprintf("the witness %q needs a moment", w), p); err != nil {
				return err
			}
		}
	}
	return nil
}

// whyNever returns why something can never happen in a world with a lock; "" if it can.
func whyNever(c sim.Config, happening trace.Happening) string {
	kind := c.Lock.Kind
	switch h := happening.(type) {
	case trace.KeysExpired:
		return whyNoEnd(c, h.Client)
	case trace.KeyExpired:
		if !usesServer(c, h.Node) {
			return "this lock keeps nothing on " + h.Node
		}
		return whyNoEnd(c, h.Client)
	case trace.HoldsNode:
		switch {
		case keepsInCluster(kind):
			if h.Node != kind.System {
				return "the servers of this lock keep one grant together, and not a key each"
			}
		case !usesServer(c, h.Node):
			return "this lock keeps nothing on " + h.Node
		}
	case trace.SessionExpired:
		return whyNoEnd(c, h.Client)
	case trace.Action:
		isNode := func(n sim.Node) bool { return n.Name == h.Process }
		if at := slices.IndexFunc(c.Nodes, isNode); h.Verb == trace.Synced && at >= 0 && systemOf(c.Nodes[at].System).Keeps(c.Nodes[at].Persistence, trace.PowerLoss) {
			return h.Process + " has written to its disk before it answers, and not later"
		}
	}
	return ""
}

// whyNoEnd returns why a client's grant never ends before the client releases it; "" if it
// can end.
func whyNoEnd(c sim.Config, client string) string {
	switch kind := c.Lock.Kind; {
	case kind.Open:
		return "this lock lets every client in, and grants nothing that could end"
	case kind.Endless:
		return "a grant of this lock does not end by itself"
	case kind.Renews && !slices.ContainsFunc(c.Faults, func(f sim.Fault) bool { return canEndGrant(c, f, client) }):
		return fmt.Sprintf("this lock renews its grants, and no fault keeps it from renewing that of %s", client)
	}
	return ""
}

// canEndGrant reports whether a fault can keep a client's grant from being renewed, or make a
// server end it. A clock that is a little fast cannot: the lock renews a grant long before its end.
// A client that is cut off from a minority of the servers reaches the others.
func canEndGrant(c sim.Config, f sim.Fault, client string) bool {
	isNode := func(name string) bool {
		return slices.ContainsFunc(c.Nodes, func(n sim.Node) bool { return n.Name == name })
	}
	_, isMessage := f.Message()
	others := slices.DeleteFunc(f.Others(), func(name string) bool { return !isNode(name) })
	if f.Effect() == trace.CutsLink && f.Target() == client && len(others) > 0 {
		masters := masterNames(c)
		if only := onlyServer(c.Lock.Kind, c.Lock.Key, len(masters)); only >= 0 {
			return slices.Contains(others, masters[only])
		}
		return 2*len(others) > len(masters)
	}
	return slices.ContainsFunc(f.Targets(), func(group []string) bool {
		return slices.ContainsFunc(group, func(name string) bool {
			return isNode(name) && f.Effect() != trace.DriftsClock || name == client && !isMessage && f.Effect() != trace.StallsRequest
		})
	})
}

// keepsInCluster reports whether the servers of a lock agree on each grant.
func keepsInCluster(kind locks.Kind) bool {
	slots, _ := kind.Slots(defaultKey, defaultMembers)
	return len(slots) > 0 && slots[0].Node == locks.Cluster
}

// usesServer reports whether a server can keep a grant of a world's lock.
func usesServer(c sim.Config, name string) bool {
	masters := masterNames(c)
	if only := onlyServer(c.Lock.Kind, c.Lock.Key, len(masters)); only >= 0 {
		return name == masters[only] || !slices.Contains(masters, name)
	}
	return true
}

// grantKeeper returns the name under which a trace has the keys of a world's lock, if there
// is only one: that of its only server, or of its cluster.
func grantKeeper(c sim.Config) string {
	masters := masterNames(c)
	if keepsInCluster(c.Lock.Kind) {
		return c.Lock.Kind.System
	}
	if only := onlyServer(c.Lock.Kind, c.Lock.Key, len(masters)); only >= 0 {
		return masters[only]
	}
	return ""
}

// masterNames lists the servers of a world's lock that are no replicas.
func masterNames(c sim.Config) []string {
	var names []string
	for _, n := range c.Nodes {
		if n.ReplicaOf == "" && !n.CountersOnly {
			names = append(names, n.Name)
		}
	}
	return names
}
