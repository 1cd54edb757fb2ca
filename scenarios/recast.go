package scenarios

import (
	"regexp"
	"slices"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// recast tells a story of one kind of server with that of the run's lock: where the story
// has redis-3, a lock on etcd has etcd-3. What a node is told to be stays as it is, so
// that a server which cannot be that is refused; only a node's persistence is the file's
// own if the other system has it, too, and otherwise the strongest that it has.
func recast(c sim.Config, told sim.System) sim.Config {
	to := c.Lock.Kind.System
	if to == "" || to == told.Name {
		return c
	}
	name, system := renaming(told, c.Lock.Kind), systemOf(to)
	for i := range c.Nodes {
		n := &c.Nodes[i]
		n.Name, n.ReplicaOf, n.System = name(n.Name), name(n.ReplicaOf), to
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
		c.Faults[i].Text = process.ReplaceAllStringFunc(f.Text, name)
	}
	return c
}

// process is a word of a fault's text that may be the name of a process.
var process = regexp.MustCompile(`[\pL\pN_-]+`)

// WitnessesWith are the variant's witnesses as a run with a kind of lock has them.
func (v *Variant) WitnessesWith(lock string) []trace.Witness {
	kind, _ := locks.Lookup(lock)
	name, all := renaming(v.spec.system(), kind), slices.Clone(v.Witnesses)
	for i, w := range all {
		all[i] = w.Rename(name)
	}
	return all
}

// renaming is what the nodes of a story are called when it is told with another lock.
func renaming(told sim.System, kind locks.Kind) func(string) string {
	names := map[string]string{}
	if kind.System != "" && kind.System != told.Name {
		for i := range maxNodes {
			names[told.NodeName(i)] = systemOf(kind.System).NodeName(i)
		}
	}
	return func(name string) string {
		if other, ok := names[name]; ok {
			return other
		}
		return name
	}
}
