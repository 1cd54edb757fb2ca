package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A standIn says that the only server of a lock represents several servers of a scenario.
//
// Many scenarios strike one of five servers while a client cannot reach two others, so a
// majority depends on the struck server. A lock that keeps its grants on one server always
// depends on that server. So a fault that strikes one of the scenario's servers strikes the
// lock's only server instead, and the client can reach that server. The zero standIn changes
// nothing.
type standIn struct {
	// server is the lock's only server, and servers are those of the scenario that it
	// represents.
	server  string
	servers []string
	// left are the indexes of the faults that are left out, because they only cut a client off
	// from servers that the lock does not use.
	left []int
}

// name renames a server of the scenario.
func (s standIn) name(server string) string {
	if slices.Contains(s.servers, server) {
		return s.server
	}
	return server
}

// findStandIn returns the stand-in that a lock needs for the faults of a scenario, whose
// servers are masters. It returns an error if a fault cannot act on the lock, and the lock has
// no server that can stand in.
func findStandIn(kind locks.Kind, key string, masters []string, faults []sim.Fault) (standIn, error) {
	server := onlyServer(kind, key, len(masters))
	if server < 0 {
		return standIn{}, nil
	}
	s := standIn{server: masters[server]}
	isUnused := func(name string) bool { return name != s.server && slices.Contains(masters, name) }
	hasNoEffect := func(f sim.Fault) bool {
		return slices.ContainsFunc(f.Targets(), func(group []string) bool {
			return len(group) > 0 && !slices.ContainsFunc(group, func(name string) bool { return !isUnused(name) })
		})
	}
	// hasTwin reports whether another fault does the same to the lock's server, as when a power loss
	// strikes all servers.
	hasTwin := func(f sim.Fault) bool {
		return slices.ContainsFunc(faults, func(o sim.Fault) bool {
			return o.Kind() == f.Kind() && o.Strikes.Equal(f.Strikes) && o.Target() == s.server
		})
	}
	decisive := map[string]bool{}
	first := -1 // the first fault that cannot act
	for i, f := range faults {
		if !hasNoEffect(f) || hasTwin(f) {
			for _, group := range f.Targets() {
				if slices.Contains(group, s.server) {
					decisive[s.server] = true
				}
			}
			continue
		}
		if first < 0 {
			first = i
		}
		cutsClient := f.Effect() == trace.CutsLink && !isUnused(f.Target())
		for _, group := range f.Targets() {
			for _, name := range group {
				if !isUnused(name) {
					continue
				}
				if decisive[name] = true; !cutsClient && !slices.Contains(s.servers, name) {
					s.servers = append(s.servers, name)
				}
			}
		}
		if cutsClient {
			s.left = append(s.left, i)
		}
	}
	switch {
	case first < 0:
		return standIn{}, nil
	case len(s.servers) == 0:
		return s, fmt.Errorf("fault %d (%s): it cannot act on the lock, which keeps nothing on %s", first+1, faults[first].Text, strings.Join(unusedServers(faults[first], isUnused), " or "))
	case len(decisive) <= len(masters)/2:
		return s, fmt.Errorf("fault %d (%s): the faults strike %d of %d servers, which is no majority, and the lock keeps its grants on one server, so no part of its servers is a minority", first+1, faults[first].Text, len(decisive), len(masters))
	}
	return s, nil
}

// unusedServers lists the servers on which a fault acts and that the lock does not use.
func unusedServers(f sim.Fault, isUnused func(string) bool) []string {
	var all []string
	for _, group := range f.Targets() {
		for _, name := range group {
			if isUnused(name) {
				all = append(all, name)
			}
		}
	}
	return all
}

// onlyServer returns the index of the server that keeps all grants of a lock, or -1 if
// several servers keep them, or none does.
func onlyServer(kind locks.Kind, key string, servers int) int {
	slots, _ := kind.Slots(key, servers)
	if kind.Open || servers < 2 {
		return -1
	}
	only := 0 // a lock that keeps its grants on a server, but not as keys, uses the first one
	for i, slot := range slots {
		if slot.Node == locks.Cluster || i > 0 && slot.Node != only {
			return -1
		}
		only = slot.Node
	}
	return only
}

// apply makes the world of a scenario one in which the stand-in takes the place of the
// servers that it represents.
func (s standIn) apply(c sim.Config) sim.Config {
	if len(s.servers) == 0 {
		return c
	}
	at := slices.IndexFunc(c.Nodes, func(n sim.Node) bool { return n.Name == s.server })
	struck := slices.IndexFunc(c.Nodes, func(n sim.Node) bool { return n.Name == s.servers[0] })
	c.Nodes[at].Persistence = c.Nodes[struck].Persistence
	var faults []sim.Fault
	for i, f := range c.Faults {
		if slices.Contains(s.left, i) {
			continue
		}
		renamed := f.WithNames(s.name)
		if renamed.Text = FaultText(renamed); FaultText(f) == renamed.Text {
			renamed.Text = f.Text
		}
		isSame := func(o sim.Fault) bool {
			return o.Text == renamed.Text && o.Strikes.Equal(renamed.Strikes) && o.Until.Equal(renamed.Until) && o.For == renamed.For
		}
		if !slices.ContainsFunc(faults, isSame) {
			faults = append(faults, renamed)
		}
	}
	c.Faults = faults
	renamePoints(c.Clients, s.name)
	return c
}

// checkNames returns an error if the world or the witnesses of a scenario distinguish the
// stand-in from a server that it represents.
func (s standIn) checkNames(c sim.Config, witnesses []trace.Witness) error {
	if len(s.servers) == 0 || slices.Contains(s.servers, s.server) {
		return nil
	}
	var names []string
	for _, client := range c.Clients {
		names = slices.Concat(names, client.Starts.Names(), client.WorksUntil.Names(), client.Cancels.Names())
	}
	for _, f := range c.Faults {
		names = slices.Concat(names, f.Strikes.When.Names(), f.Until.Names())
	}
	for _, w := range witnesses {
		names = append(names, w.Names()...)
	}
	if slices.Contains(names, s.server) {
		return fmt.Errorf("the scenario distinguishes %s from %s, and the lock keeps its grants on one server", strings.Join(s.servers, " and "), s.server)
	}
	return nil
}
