package scenarios

import (
	"slices"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// adaptToSystem rewrites a world for another kind of server if the lock of the run needs
// it: for a lock on etcd, redis-3 becomes etcd-3. Each node keeps its part, such as being a
// replica; whether a server of that kind can play it is checked later. There are two
// exceptions. If the other system does not have a node's persistence, the node gets the
// strongest that the system has. A setting that the other system does not have is dropped,
// and the run gets a doubt about it.
func adaptToSystem(c sim.Config, storySystem sim.System) sim.Config {
	targetSystem := c.Lock.Kind.System
	if targetSystem == "" || targetSystem == storySystem.Name {
		return c
	}
	system, names := systemOf(targetSystem), map[string]string{}
	for i := range maxNodes {
		names[storySystem.NodeName(i)] = system.NodeName(i)
	}
	name := renamer(names)
	for i := range c.Nodes {
		n := &c.Nodes[i]
		if n.CountersOnly {
			continue // a node that only counts tokens is the same for every lock
		}
		n.Name, n.ReplicaOf, n.System = name(n.Name), name(n.ReplicaOf), targetSystem
		n.Settings = slices.DeleteFunc(slices.Clone(n.Settings), func(s string) bool { return system.CheckSetting(s) != nil })
		if all := system.Persistences(); n.Persistence != "" && !slices.Contains(all, n.Persistence) {
			n.Persistence = ""
			if len(all) > 0 {
				n.Persistence = all[len(all)-1]
			}
		}
	}
	for i := range c.Clients {
		client := &c.Clients[i]
		client.Starts, client.WorksUntil, client.Cancels = client.Starts.Rename(name), client.WorksUntil.Rename(name), client.Cancels.Rename(name)
	}
	c.Tokens.Nodes = slices.Clone(c.Tokens.Nodes)
	for i, n := range c.Tokens.Nodes {
		c.Tokens.Nodes[i] = name(n)
	}
	for i := range c.Network.Paths {
		p := &c.Network.Paths[i]
		p.Between, p.And = name(p.Between), name(p.And)
	}
	for i, f := range c.Faults {
		c.Faults[i] = f.WithNames(name)
		c.Faults[i].Text = FaultText(c.Faults[i])
	}
	return c
}

// WitnessesIn returns the variant's witnesses with the names that the nodes have in the
// trace of a run. Another kind of server has other names for its nodes, but they are in the
// same order.
func (v *Variant) WitnessesIn(t *trace.Trace) []trace.Witness {
	names, masters := map[string]string{}, v.spec.masters()
	for _, p := range t.Processes {
		if p.Role == trace.RoleNode && len(names) < len(masters) {
			names[masters[len(names)]] = p.Name
		}
	}
	all := slices.Clone(v.witnessesFor(t))
	for i, w := range all {
		all[i] = w.Rename(renamer(names))
	}
	return all
}

// witnessesFor returns the witnesses for the lock of a run: those that expect-with gives
// for this kind of lock, or else the variant's own.
func (v *Variant) witnessesFor(t *trace.Trace) []trace.Witness {
	if len(v.overrides) > 0 {
		return nil
	}
	if len(t.Locks) > 0 {
		if es, ok := v.spec.ExpectWith.get(t.Locks[0].Kind); ok && es.Witnesses != nil {
			return es.Witnesses
		}
	}
	return v.Witnesses
}

// renamer returns a function that replaces a name that is a key of the map, and returns any
// other name unchanged.
func renamer(names map[string]string) func(string) string {
	return func(name string) string {
		if renamed, ok := names[name]; ok {
			return renamed
		}
		return name
	}
}
