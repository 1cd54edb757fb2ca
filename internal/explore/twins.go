package explore

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Two nodes are alike if only their names differ: if they swap names, the world stays the same. A
// place is a kind of fault, the processes that it strikes, and the moment. Two places are twins if
// one becomes the other when alike nodes swap names. An example is a partition from redis-1 and
// redis-2, and one from redis-2 and redis-4. If both faults strike at messages or hold them back,
// the messages must also be on the same side of the quorum: with five nodes, the third reply
// completes the grant, and the second does not.
//
// Twins have the same verdict in all worlds that were compared, so a search tries one of
// them early and the others later. It tries all of them, because nothing proves that they
// are equal: each connection draws its own latencies, and a lock may prefer some nodes.

// findAlike maps each node to the first node that is like it. locks are the locks of the
// trace. A member of a cluster is like no other: one of the members leads, and each client
// uses one of them.
func findAlike(cfg sim.Config, locks []trace.LockInfo, nodes []string) map[string]string {
	facts := nodeFacts(cfg, locks, func(name string) string { return name })
	first := map[string]string{}
	for i, node := range nodes {
		first[node] = node
		isMember := func(l trace.LockInfo) bool { return slices.Contains(l.Members, node) }
		if slices.ContainsFunc(locks, isMember) {
			continue
		}
		for _, earlier := range nodes[:i] {
			swap := func(name string) string {
				switch name {
				case node:
					return earlier
				case earlier:
					return node
				}
				return name
			}
			if slices.Equal(nodeFacts(cfg, locks, swap), facts) {
				first[node] = first[earlier]
				break
			}
		}
	}
	return first
}

// nodeFacts lists, sorted, all that a world says about nodes by their names. These facts are
// the nodes' systems, disks and settings, the keys that they keep, the latencies of their
// connections, the faults that strike them, and the clients that wait for an event on them. The
// function name renames the processes.
func nodeFacts(cfg sim.Config, locks []trace.LockInfo, name func(string) string) (all []string) {
	add := func(words ...any) { all = append(all, fmt.Sprintln(words...)) }
	for _, n := range cfg.Nodes {
		if n.Name = name(n.Name); n.ReplicaOf != "" {
			n.ReplicaOf = name(n.ReplicaOf)
		}
		add("node", fmt.Sprintf("%+v", n))
	}
	for _, l := range locks {
		for _, s := range l.Slots {
			add("slot", name(s.Node), s.Key)
		}
	}
	for _, node := range cfg.Tokens.Nodes {
		add("counter", name(node))
	}
	latencies := map[string]sim.Path{} // the last path between two processes is used
	for _, p := range cfg.Network.Paths {
		ends := []string{name(p.Between), name(p.And)}
		slices.Sort(ends)
		latencies[fmt.Sprint(ends)] = p
	}
	for ends, p := range latencies {
		add("path", ends, p.Min, p.Max)
	}
	for _, f := range cfg.Faults {
		f = sortedOthers(f.WithNames(name))
		f.Text = ""
		add("fault", runs.Fault{Fault: f})
	}
	for _, c := range cfg.Clients {
		add(c.Name, c.Starts.Rename(name), c.WorksUntil.Rename(name), c.Cancels.Rename(name))
	}
	slices.Sort(all)
	return all
}

// sortedOthers returns the fault with the processes at its other end in alphabetical order.
func sortedOthers(f sim.Fault) sim.Fault {
	if others := f.Others(); len(others) > 1 {
		slices.Sort(others)
		f = f.WithOthers(others)
	}
	return f
}

// numberAlike returns a function that numbers nodes: it renames alike nodes in the order in
// which it is called for them. It keeps the names of all other processes.
func (r *Record) numberAlike() func(string) string {
	numbered, counts := map[string]string{}, map[string]int{}
	return func(name string) string {
		first, isNode := r.alike[name]
		if !isNode {
			return name
		}
		if numbered[name] == "" {
			counts[first]++
			numbered[name] = fmt.Sprintf("%s, number %02d", first, counts[first])
		}
		return numbered[name]
	}
}

// twinsName returns a name for a fault's place. The twins of the place get the same name, and
// no other place gets it.
func (r *Record) twinsName(f runs.Fault) string {
	return fmt.Sprint(placeName(runs.Fault{Fault: sortedOthers(f.WithNames(r.numberAlike()))}), r.sideOfQuorum(f))
}

// A quorumSide says where a message is among the messages of its kind: before the one that
// completes a quorum (-1), that message itself (0), or after it (1).
type quorumSide int

// findQuorumSides returns the side of each message to or from a node. The keys of the map
// are the texts of the points at which the message is sent and arrives, and the message's
// own text. Messages are of one kind if they become the same when alike nodes swap names.
func (r *Record) findQuorumSides(quorum int) map[string]quorumSide {
	sides, counts := map[string]quorumSide{}, map[string]int{}
	add := func(name, kind string) {
		sides[name] = quorumSide(cmp.Compare(counts[kind]+1, quorum))
		counts[kind]++
	}
	for _, p := range r.Points {
		if when := p.Strikes.When; !when.IsZero() {
			add(when.String(), when.Rename(r.numberAlike()).String())
		}
	}
	for _, m := range r.Messages {
		add(m.NthMessage.String(), m.Rename(r.numberAlike()).String())
	}
	return sides
}

// sideOfQuorum returns the side of the message that a fault holds back, or at which it
// strikes.
func (r *Record) sideOfQuorum(f runs.Fault) quorumSide {
	if m, ok := f.Message(); ok {
		return r.quorumSides[m.String()]
	}
	return r.quorumSides[f.Strikes.When.String()]
}

// twinsID returns a hash of a world's set of faults. Sets with the same hash become the same
// if alike nodes swap names. A few sets that do so have different hashes.
func (r *Record) twinsID(w runs.WorldSpec) uint64 {
	// describe describes a fault with other names of nodes.
	describe := func(f runs.Fault, name func(string) string) string {
		renamed := runs.WorldSpec{Base: w.Base, Faults: []runs.Fault{{Fault: sortedOthers(f.WithNames(name))}}}
		return fmt.Sprintf("%s %d %q", renamed.Key(), r.sideOfQuorum(f), w.Change.Persistence[f.Target()])
	}
	keepName := func(name string) string { return name }
	// The nodes are numbered as the faults name them, so the order of the faults must not
	// depend on the names of nodes, if possible.
	faults := slices.Clone(w.Faults)
	slices.SortFunc(faults, func(a, b runs.Fault) int {
		return cmp.Or(
			strings.Compare(describe(a, r.numberAlike()), describe(b, r.numberAlike())),
			strings.Compare(describe(a, keepName), describe(b, keepName)),
		)
	})
	number := r.numberAlike()
	h := fnv.New64a()
	for _, f := range faults {
		fmt.Fprintln(h, describe(f, number))
	}
	return h.Sum64()
}

// countTwins counts, for each place, its twins that come before it in the list.
func (f *Found) countTwins(all []place) {
	counts := map[string]int{}
	for i, p := range all {
		r := f.records[p.base]
		name := fmt.Sprint(p.base, " ", r.twinsName(f.singles[p.base][p.members[0]].world.Faults[0]))
		all[i].earlierTwins = counts[name]
		counts[name]++
	}
}
