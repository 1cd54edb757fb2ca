package explore

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// fewerFaults leaves out some faults. It tries the smallest sets first. So if a set is
// accepted, no smaller set shows the damage.
func fewerFaults(rec *Record, w runs.WorldSpec) iter.Seq[runs.WorldSpec] {
	return func(yield func(runs.WorldSpec) bool) {
		for some := range parts(w.Faults, len(w.Faults)-1) {
			if !yield(resetStarts(rec, w, w.WithFaults(some...))) {
				return
			}
		}
	}
}

// resetStarts gives some clients of the world fewer the start that they have in the base.
// In the world w such a client waits for an effect of a fault, and fewer does not have the
// fault.
func resetStarts(rec *Record, w, fewer runs.WorldSpec) runs.WorldSpec {
	fewer.Change.Starts = maps.Clone(w.Change.Starts)
	waits := func(w runs.WorldSpec, client string, at trace.Point) bool {
		return slices.ContainsFunc(openings(rec, w, client), func(m opening) bool { return m.at.Equal(at) })
	}
	maps.DeleteFunc(fewer.Change.Starts, func(client string, at trace.Point) bool {
		return waits(w, client, at) && !waits(fewer, client, at)
	})
	return fewer
}

// fewerClients leaves out clients that no fault names. At least one client remains.
func fewerClients(rec *Record, w runs.WorldSpec) iter.Seq[runs.WorldSpec] {
	return func(yield func(runs.WorldSpec) bool) {
		now := clients(rec, w)
		for some := range parts(now, len(now)-1) {
			gone := func(name string) bool { return slices.Contains(rec.Clients, name) && !slices.Contains(some, name) }
			if len(some) == 0 || slices.ContainsFunc(w.Faults, func(f runs.Fault) bool { return slices.ContainsFunc(namedBy(f), gone) }) {
				continue
			}
			fewer := w
			fewer.Change.Clients = some
			fewer.Change.Starts = maps.Clone(w.Change.Starts)
			maps.DeleteFunc(fewer.Change.Starts, func(client string, at trace.Point) bool {
				return gone(client) || slices.ContainsFunc(at.Names(), gone)
			})
			if !yield(fewer) {
				return
			}
		}
	}
}

// fewerNodes puts the lock on fewer nodes, an odd number of them. The nodes that remain
// take the names of the first nodes, in their order. A node that only partitions name can
// be left out. But the partition must still have the same consequence: a client that could
// reach a quorum still can, and a client that could not still cannot.
func fewerNodes(rec *Record, w runs.WorldSpec) iter.Seq[runs.WorldSpec] {
	return func(yield func(runs.WorldSpec) bool) {
		now := nodesOf(rec, w)
		var needed, cut []string
		for _, node := range now {
			switch {
			case isNeeded(w, node):
				needed = append(needed, node)
			case slices.ContainsFunc(w.Faults, func(f runs.Fault) bool { return slices.Contains(f.Others(), node) }):
				cut = append(cut, node)
			}
		}
		for n := 1; n < len(now); n += 2 {
			for some := range parts(cut, len(cut)) {
				stay := slices.DeleteFunc(slices.Clone(now), func(node string) bool {
					return !slices.Contains(needed, node) && !slices.Contains(some, node)
				})
				if len(stay) > n {
					continue
				}
				if fewer, ok := withNodes(rec, w, stay, n); ok && !yield(fewer) {
					return
				}
			}
		}
	}
}

// isNeeded reports whether a fault or a client's start names a node. Without such a node
// the world would be a different one. It does not count that a partition cuts off the node.
func isNeeded(w runs.WorldSpec, node string) bool {
	for _, f := range w.Faults {
		names := namedBy(f)
		if isPartition(f) {
			names = append(namedByTrigger(f), f.Target())
		}
		if slices.Contains(names, node) {
			return true
		}
	}
	for _, at := range w.Change.Starts {
		if slices.Contains(at.Names(), node) {
			return true
		}
	}
	return false
}

// onFewerNodes returns the world with n nodes. The nodes that are kept get the names of the
// first of them. It returns false if a partition that left a quorum would no longer do so,
// or the reverse.
func withNodes(rec *Record, w runs.WorldSpec, stay []string, n int) (runs.WorldSpec, bool) {
	fewer := w
	fewer.Change.Nodes = n
	now, then := nodesOf(rec, w), nodesOf(rec, fewer)
	to := map[string]string{}
	for i, node := range stay {
		to[node] = then[i]
	}
	gone := func(name string) bool { return slices.Contains(now, name) && to[name] == "" }
	isNode := func(name string) bool { return slices.Contains(now, name) }
	name := func(old string) string { return cmp.Or(to[old], old) }
	fewer.Faults = nil
	for _, f := range w.Faults {
		if isPartition(f) {
			left := slices.DeleteFunc(f.Others(), gone)
			before, after := count(f.Others(), isNode), count(left, isNode)
			if before > 0 && (after == 0 || leavesQuorum(before, len(now)) != leavesQuorum(after, n)) {
				return w, false
			}
			f = f.WithOthers(left)
		}
		f.Fault = f.WithNames(name)
		fewer.Faults = append(fewer.Faults, f)
	}
	fewer.Change.Starts = maps.Clone(w.Change.Starts)
	for client, at := range fewer.Change.Starts {
		fewer.Change.Starts[client] = at.Rename(name)
	}
	fewer.Change.Persistence = nil
	for node, is := range w.Change.Persistence {
		if fewer.Change.Persistence == nil {
			fewer.Change.Persistence = map[string]sim.Persistence{}
		}
		fewer.Change.Persistence[name(node)] = is
	}
	return fewer, true
}

// leavesQuorum reports whether a majority of n nodes remains if cut of them are cut off.
func leavesQuorum(cut, n int) bool { return n-cut > n/2 }

// countMatching returns how many of the names match.
func count(all []string, is func(string) bool) int {
	n := 0
	for _, name := range all {
		if is(name) {
			n++
		}
	}
	return n
}

// fewerOthers makes a partition cut off fewer processes.
func fewerOthers(_ *Record, w runs.WorldSpec) iter.Seq[runs.WorldSpec] {
	return func(yield func(runs.WorldSpec) bool) {
		for i, f := range w.Faults {
			if !isPartition(f) {
				continue
			}
			for some := range parts(f.Others(), len(f.Others())-1) {
				if len(some) > 0 && !yield(replaceFault(w, i, f.WithOthers(some))) {
					return
				}
			}
		}
	}
}

// replaceFault returns the world with f in place of its fault i.
func replaceFault(w runs.WorldSpec, i int, f runs.Fault) runs.WorldSpec {
	w.Faults = slices.Clone(w.Faults)
	w.Faults[i] = f
	return w
}

// clientsOf returns the clients that the world has.
func clients(rec *Record, w runs.WorldSpec) []string {
	if w.Change.Clients != nil {
		return w.Change.Clients
	}
	return rec.Clients
}

// isPartition reports whether a fault cuts off a process from others. For such a fault the
// number of others matters.
func isPartition(f runs.Fault) bool { return f.Effect() == trace.CutsLink }

// namesIn returns the processes that a fault names, also in its trigger.
func namedBy(f runs.Fault) []string {
	return append(namedByTrigger(f), slices.Concat(f.Targets()...)...)
}

// namesInTrigger returns the processes that the trigger of a fault names.
func namedByTrigger(f runs.Fault) []string {
	names := slices.Clone(f.Strikes.When.Names())
	if before := f.Strikes.Before; !before.IsZero() {
		names = append(names, before.Client)
	}
	return names
}

// subsetsUpTo lists every subset with at most limit members, the smallest first.
func parts[E any](all []E, most int) iter.Seq[[]E] {
	return func(yield func([]E) bool) {
		for size := range most + 1 {
			if !partsOf(all, size, nil, yield) {
				return
			}
		}
	}
}

// subsetsOfSize lists the subsets of one size, each appended to chosen. It returns false if
// yield wants no more.
func partsOf[E any](all []E, size int, chosen []E, yield func([]E) bool) bool {
	if size == 0 {
		return yield(slices.Clone(chosen))
	}
	for i := range len(all) - size + 1 {
		if !partsOf(all[i+1:], size-1, append(chosen, all[i]), yield) {
			return false
		}
	}
	return true
}
