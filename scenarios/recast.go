package scenarios

import (
	"slices"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// recast tells a story of one kind of server with that of the run's lock: where the story
// has redis-3, a lock on etcd has etcd-3. What a node is told to be stays as it is, so
// that a server which cannot be that is refused; only a node's persistence is the file's
// own if the other system has it, too, and otherwise the strongest that it has, and of the
// servers' settings those stay that the other system has, too: the others are doubts.
func recast(c sim.Config, told sim.System) sim.Config {
	to := c.Lock.Kind.System
	if to == "" || to == told.Name {
		return c
	}
	system, names := systemOf(to), map[string]string{}
	for i := range maxNodes {
		names[told.NodeName(i)] = system.NodeName(i)
	}
	name := called(names)
	for i := range c.Nodes {
		n := &c.Nodes[i]
		if n.Apart {
			continue // a counter of tokens is what it is, whatever the lock
		}
		n.Name, n.ReplicaOf, n.System = name(n.Name), name(n.ReplicaOf), to
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
		c.Faults[i] = f.Renamed(name)
		c.Faults[i].Text = FaultText(c.Faults[i])
	}
	return c
}

// WitnessesIn are the variant's witnesses as a run has them: the nodes of its trace are
// those of the story, in its order, whatever they are called.
func (v *Variant) WitnessesIn(t *trace.Trace) []trace.Witness {
	names, masters := map[string]string{}, v.spec.masters()
	for _, p := range t.Processes {
		if p.Role == trace.RoleNode && len(names) < len(masters) {
			names[masters[len(names)]] = p.Name
		}
	}
	all := slices.Clone(v.witnessesWith(t))
	for i, w := range all {
		all[i] = w.Rename(called(names))
	}
	return all
}

// witnessesWith are those of the lock of a run: the story's, unless it says what must be seen
// with that lock instead.
func (v *Variant) witnessesWith(t *trace.Trace) []trace.Witness {
	if len(t.Locks) > 0 {
		if es, ok := v.spec.ExpectWith.get(t.Locks[0].Kind); ok && es.Witnesses != nil {
			return es.Witnesses
		}
	}
	return v.Witnesses
}

// called is what a process is called in the place of its name.
func called(names map[string]string) func(string) string {
	return func(name string) string {
		if other, ok := names[name]; ok {
			return other
		}
		return name
	}
}
