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

// fewerFaults leaves out some faults. It lists the worlds with the fewest faults first. So if
// shrink accepts a world, no world with fewer of these faults shows the damage.
func fewerFaults(rec *Record, w runs.WorldSpec) iter.Seq[runs.WorldSpec] {
	return func(yield func(runs.WorldSpec) bool) {
		for kept := range subsetsUpTo(w.Faults, len(w.Faults)-1) {
			if !yield(resetStarts(rec, w, w.WithFaults(kept...))) {
				return
			}
		}
	}
}

// resetStarts returns the world fewer, which is w without some of its faults. A client whose start
// waits, in w, for an effect of a fault that was left out starts as in the base. It waits for such
// an effect if it waits for an opening, a moment at which another client could get the lock; see
// opening.go.
func resetStarts(rec *Record, w, fewer runs.WorldSpec) runs.WorldSpec {
	fewer.Change.Starts = maps.Clone(w.Change.Starts)
	waitsFor := func(w runs.WorldSpec, client string, point trace.Point) bool {
		return slices.ContainsFunc(openings(rec, w, client), func(m opening) bool { return m.point.Equal(point) })
	}
	maps.DeleteFunc(fewer.Change.Starts, func(client string, point trace.Point) bool {
		return waitsFor(w, client, point) && !waitsFor(fewer, client, point)
	})
	return fewer
}

// fewerClients leaves out clients that no fault names. At least one client remains.
func fewerClients(rec *Record, w runs.WorldSpec) iter.Seq[runs.WorldSpec] {
	return func(yield func(runs.WorldSpec) bool) {
		current := clientsOf(rec, w)
		for kept := range subsetsUpTo(current, len(current)-1) {
			isLeftOut := func(name string) bool { return slices.Contains(rec.Clients, name) && !slices.Contains(kept, name) }
			if len(kept) == 0 || slices.ContainsFunc(w.Faults, func(f runs.Fault) bool { return slices.ContainsFunc(namesIn(f), isLeftOut) }) {
				continue
			}
			fewer := w
			fewer.Change.Clients = kept
			fewer.Change.Starts = maps.Clone(w.Change.Starts)
			maps.DeleteFunc(fewer.Change.Starts, func(client string, point trace.Point) bool {
				return isLeftOut(client) || slices.ContainsFunc(point.Names(), isLeftOut)
			})
			if !yield(fewer) {
				return
			}
		}
	}
}

// fewerNodes puts the lock on fewer nodes, an odd number of them. The nodes that remain take the
// names of the first nodes, in their order. A node can be left out if no client's start and no
// fault names it. A node that partitions cut off can be left out, too, if each partition still has
// the same consequence: a client that could reach a quorum still can, and a client that could not
// still cannot.
func fewerNodes(rec *Record, w runs.WorldSpec) iter.Seq[runs.WorldSpec] {
	return func(yield func(runs.WorldSpec) bool) {
		current := nodesOf(rec, w)
		var needed, cut []string
		for _, node := range current {
			switch {
			case isNeeded(w, node):
				needed = append(needed, node)
			case slices.ContainsFunc(w.Faults, func(f runs.Fault) bool { return slices.Contains(f.Others(), node) }):
				cut = append(cut, node)
			}
		}
		for n := 1; n < len(current); n += 2 {
			for keptCut := range subsetsUpTo(cut, len(cut)) {
				kept := slices.DeleteFunc(slices.Clone(current), func(node string) bool {
					return !slices.Contains(needed, node) && !slices.Contains(keptCut, node)
				})
				if len(kept) > n {
					continue
				}
				if fewer, ok := onFewerNodes(rec, w, kept, n); ok && !yield(fewer) {
					return
				}
			}
		}
	}
}

// isNeeded reports whether a fault or a client's start names a node. Without such a node the world
// would be a different one. A partition does not count if all it does to the node is to cut it off
// from the partition's target.
func isNeeded(w runs.WorldSpec, node string) bool {
	for _, f := range w.Faults {
		names := namesIn(f)
		if isPartition(f) {
			names = append(namesInTrigger(f), f.Target())
		}
		if slices.Contains(names, node) {
			return true
		}
	}
	for _, point := range w.Change.Starts {
		if slices.Contains(point.Names(), node) {
			return true
		}
	}
	return false
}

// onFewerNodes returns the world with n nodes. The nodes that are kept get the names of the first n
// nodes. It returns false if a partition would no longer cut off any node. It also returns false if
// a partition that left a quorum would no longer do so, or the reverse.
func onFewerNodes(rec *Record, w runs.WorldSpec, kept []string, n int) (runs.WorldSpec, bool) {
	fewer := w
	fewer.Change.Nodes = n
	current, nodes := nodesOf(rec, w), nodesOf(rec, fewer)
	newNames := map[string]string{}
	for i, node := range kept {
		newNames[node] = nodes[i]
	}
	isLeftOut := func(node string) bool { return slices.Contains(current, node) && newNames[node] == "" }
	isNode := func(node string) bool { return slices.Contains(current, node) }
	rename := func(old string) string { return cmp.Or(newNames[old], old) }
	fewer.Faults = nil
	for _, f := range w.Faults {
		if isPartition(f) {
			others := slices.DeleteFunc(f.Others(), isLeftOut)
			before, after := countMatching(f.Others(), isNode), countMatching(others, isNode)
			if before > 0 && (after == 0 || leavesQuorum(before, len(current)) != leavesQuorum(after, n)) {
				return w, false
			}
			f = f.WithOthers(others)
		}
		f.Fault = f.WithNames(rename)
		fewer.Faults = append(fewer.Faults, f)
	}
	fewer.Change.Starts = maps.Clone(w.Change.Starts)
	for client, point := range fewer.Change.Starts {
		fewer.Change.Starts[client] = point.Rename(rename)
	}
	fewer.Change.Persistence = nil
	for node, persistence := range w.Change.Persistence {
		if fewer.Change.Persistence == nil {
			fewer.Change.Persistence = map[string]sim.Persistence{}
		}
		fewer.Change.Persistence[rename(node)] = persistence
	}
	return fewer, true
}

// leavesQuorum reports whether a majority of n nodes remains without lost of them.
func leavesQuorum(lost, n int) bool { return n-lost > n/2 }

// countMatching returns how many of the names match.
func countMatching(all []string, matches func(string) bool) int {
	n := 0
	for _, name := range all {
		if matches(name) {
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
			for kept := range subsetsUpTo(f.Others(), len(f.Others())-1) {
				if len(kept) > 0 && !yield(replaceFault(w, i, f.WithOthers(kept))) {
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
func clientsOf(rec *Record, w runs.WorldSpec) []string {
	if w.Change.Clients != nil {
		return w.Change.Clients
	}
	return rec.Clients
}

// isPartition reports whether a fault cuts off a process from others. For such a fault the
// number of others matters.
func isPartition(f runs.Fault) bool { return f.Effect() == trace.CutsLink }

// namesIn returns the processes that a fault names, also in its trigger.
func namesIn(f runs.Fault) []string {
	return append(namesInTrigger(f), slices.Concat(f.Targets()...)...)
}

// namesInTrigger returns the processes that the trigger of a fault names.
func namesInTrigger(f runs.Fault) []string {
	names := slices.Clone(f.Strikes.When.Names())
	if before := f.Strikes.Before; !before.IsZero() {
		names = append(names, before.Client)
	}
	return names
}

// subsetsUpTo lists every subset with at most limit members, the smallest first.
func subsetsUpTo[E any](all []E, limit int) iter.Seq[[]E] {
	return func(yield func([]E) bool) {
		for size := range limit + 1 {
			if !subsetsOfSize(all, size, nil, yield) {
				return
			}
		}
	}
}

// subsetsOfSize lists the subsets of one size, each appended to chosen. It returns false if
// yield has returned false.
func subsetsOfSize[E any](all []E, size int, chosen []E, yield func([]E) bool) bool {
	if size == 0 {
		return yield(slices.Clone(chosen))
	}
	for i := range len(all) - size + 1 {
		if !subsetsOfSize(all[i+1:], size-1, append(chosen, all[i]), yield) {
			return false
		}
	}
	return true
}
