package explore

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Some worlds can only repeat what another one has shown, event by event, and need not be
// run. Two worlds whose faults strike the same at the same moment are one until these do
// something different, so it is enough that they never do:
//
//   - A fault that was not lifted before the run was over may as well last longer, or end
//     any time after that.
//   - How a client's clock is set makes no difference if the client never reads it.
//   - A server's clock is only compared with times. So if two settings of it make no
//     difference, neither does one between them.
//   - Of what a server writes to its disk a crash leaves everything, if that is what its
//     persistence keeps in such a crash, or nothing, if it writes nothing or had not yet
//     written. All crashes that leave everything come to the same, and all that leave
//     nothing, if what else they do is the same.

// A tried world is one of a spot that was run on sound grounds, and what it came to.
type tried struct {
	runs.World
	runs.Outcome
}

// with adds a world that was run, if others can follow from it.
func with(ran []tried, w runs.World, o runs.Outcome) []tried {
	if !o.Grounds.Sound {
		return ran
	}
	return append(ran, tried{w, o})
}

// repeats says what a world with one fault comes to if that follows from worlds that were
// run, in each of which such a fault strikes the same at the same moment.
func (r *Record) repeats(w runs.World, ran []tried) (runs.Outcome, bool) {
	for _, t := range ran {
		aslong := lasts(t.World) == lasts(w) || t.Grounds.Over > 0 && lasts(w) > t.Grounds.Over
		if aslong && r.sameBefore(w, t.World, ran) {
			return t.Outcome, true
		}
	}
	if t, ok := r.between(w, ran); ok {
		return t.Outcome, true
	}
	return runs.Outcome{}, false
}

// lasts is how long the world's only fault does.
func lasts(w runs.World) time.Duration { return w.Faults[0].For }

// sameBefore says that two worlds are the same until one of their faults is lifted.
func (r *Record) sameBefore(a, b runs.World, ran []tried) bool {
	f, g := a.Faults[0], b.Faults[0]
	f.For, g.For = 0, 0
	if f.Equal(g) && a.Change.Persistence[f.Target()] == b.Change.Persistence[f.Target()] {
		return true
	}
	if f.Effect() != trace.KillsProcess || r.Roles[f.Target()] != trace.RoleNode || powerless(f) != powerless(g) {
		return false
	}
	x, y := r.leaves(a, ran), r.leaves(b, ran)
	return x == y && x != someOfIt
}

// powerless says that a crash takes the machine with the process, whose connections are
// not reset then.
func powerless(f runs.Fault) bool { return trace.Crash(f.How()) == trace.PowerLoss }

// What a crash leaves on a disk.
type remains int

const (
	someOfIt remains = iota // as far as anybody knows
	allOfIt
	nothing
)

// leaves is what the crash of a world leaves on the node's disk.
func (r *Record) leaves(w runs.World, ran []tried) remains {
	f := w.Faults[0]
	disk := w.Change.Persistence[f.Target()]
	blank := func(t tried) bool { return t.Grounds.Blank && t.Change.Persistence[f.Target()] == disk }
	switch {
	case disk == "":
		return someOfIt
	case !r.forgets(cmp.Or(trace.Crash(f.How()), trace.Kill), disk):
		return allOfIt
	case disk == sim.NoPersistence, slices.ContainsFunc(ran, blank):
		return nothing
	}
	return someOfIt
}

// between finds a world that goes as w does although their faults set a clock differently:
// because nobody reads that clock, or because another goes as it does, too, and w's fault
// sets the clock of a server to a time between theirs.
func (r *Record) between(w runs.World, ran []tried) (tried, bool) {
	f := w.Faults[0]
	if f.Effect() != trace.SetsClock {
		return tried{}, false
	}
	for i, a := range ran {
		if a.Grounds.Unread {
			return a, true
		}
		if r.Roles[f.Target()] != trace.RoleNode {
			continue
		}
		for _, b := range ran[:i] {
			from, to := a.Faults[0].By(), b.Faults[0].By()
			if a.Grounds.Course != 0 && a.Grounds.Course == b.Grounds.Course && min(from, to) < f.By() && f.By() < max(from, to) {
				return a, true
			}
		}
	}
	return tried{}, false
}

// spotsOf puts single faults together that strike the same at the same moment, and differ
// only in how they do and how large they are: those that can repeat each other. Each spot
// has their places among all, and comes where the first of them does.
func spotsOf(all []single) [][]int {
	var spots [][]int
	place := map[string]int{}
	for i, one := range all {
		f := one.world.Faults[0]
		message, _ := f.Message()
		name := fmt.Sprint(f.Kind(), f.Targets(), f.Strikes, message, f.Step())
		at, ok := place[name]
		if !ok {
			at = len(spots)
			place[name] = at
			spots = append(spots, nil)
		}
		spots[at] = append(spots[at], i)
	}
	for _, spot := range spots {
		if all[spot[0]].world.Faults[0].Effect() == trace.SetsClock {
			farthestFirst(all, spot)
		}
	}
	return spots
}

// farthestFirst has the extremes come first, between which the others may make no
// difference, and the nearest to no change at all next.
func farthestFirst(all []single, spot []int) {
	by := func(i int) time.Duration { return all[i].world.Faults[0].By() }
	slices.SortStableFunc(spot, func(a, b int) int { return cmp.Compare(by(b).Abs(), by(a).Abs()) })
	if n := len(spot); n > 4 {
		copy(spot, slices.Concat(spot[:2], spot[n-2:], spot[2:n-2]))
	}
}
