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

// Some worlds can only repeat the result of another one, event by event, and need not be
// run. Two worlds whose faults strike the same process at the same moment are identical
// until the faults do something different. So it is enough to show that they never do:
//
//   - A fault that was not lifted before the run ended may as well last longer, or end
//     any time after that.
//   - How a client's clock is set makes no difference if the client never reads it.
//   - A server's clock is only compared with times. So if two settings of it make no
//     difference, a setting between them makes none either.
//   - A crash leaves everything on a server's disk, or nothing, or part of it. It leaves
//     everything if the server's persistence keeps everything in such a crash. It leaves
//     nothing if the server writes nothing or has not written yet. All crashes that leave
//     everything have the same result, and so have all that leave nothing, if their other
//     effects are the same.

// A tried world was run with sound grounds; it has its result.
type tried struct {
	runs.World
	runs.Outcome
}

// addTried adds a world that was run, if results of other worlds can follow from it.
func with(ran []tried, w runs.World, o runs.Outcome) []tried {
	if !o.Grounds.Sound {
		return ran
	}
	return append(ran, tried{w, o})
}

// repeats returns the result of a world with one fault if it follows from ran. In each
// world of ran such a fault strikes the same process at the same moment.
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

// faultLength returns how long the world's only fault lasts.
func lasts(w runs.World) time.Duration { return w.Faults[0].For }

// sameUntilLifted reports whether two worlds are the same until one of their faults is
// lifted.
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

// isPowerLoss reports whether a crash also stops the machine. Then the connections of the
// process are not reset.
func powerless(f runs.Fault) bool { return trace.Crash(f.How()) == trace.PowerLoss }

// A diskRemains is what a crash leaves on a disk.
type remains int

const (
	someOfIt remains = iota // unknown, or part of the data
	allOfIt
	nothing
)

// remainsOf returns what the crash of a world leaves on the node's disk.
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

// findSameCourse finds a world of ran that has the same events as w although its fault sets
// a clock differently. Either nobody reads that clock; or two worlds have the same events,
// and w's fault sets a server's clock to a time between theirs.
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

// spotsOf groups single faults that strike the same process at the same moment, and differ
// only in their manner and size: those that can repeat each other. Each group has the
// indices of its faults. The groups are in the order of their first faults.
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

// farthestFirst sorts clock faults: first the two extremes, between which the others may
// make no difference, then those nearest to no change.
func farthestFirst(all []single, spot []int) {
	by := func(i int) time.Duration { return all[i].world.Faults[0].By() }
	slices.SortStableFunc(spot, func(a, b int) int { return cmp.Compare(by(b).Abs(), by(a).Abs()) })
	if n := len(spot); n > 4 {
		copy(spot, slices.Concat(spot[:2], spot[n-2:], spot[2:n-2]))
	}
}
