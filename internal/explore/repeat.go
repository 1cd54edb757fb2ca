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

// Some worlds can only repeat the result of another world, event by event. They need not be
// run. Two worlds whose faults strike the same process at the same moment are identical
// until the faults do something different. So it is enough to show that they never do:
//
//   - If a fault was not lifted before the run ended, a fault that ends at any later time
//     has the same result.
//   - How a client's clock is set makes no difference if the client never reads it.
//   - A server's clock is only compared with times. So if two settings of it make no
//     difference, a setting between them makes none either.
//   - A crash leaves everything on a server's disk, or nothing, or part of it. It leaves
//     everything if the server's persistence keeps everything in such a crash. It leaves
//     nothing if the server writes nothing or has not written yet. All crashes that leave
//     everything have the same result, if their other effects are the same. The same is true
//     of all crashes that leave nothing.

// A triedWorld is a world that was run, with its result. Its run is complete and certain
// enough to prove that other worlds have the same result.
type triedWorld struct {
	runs.WorldSpec
	runs.WorldResult
}

// addTried adds a world that was run to ran, if results of other worlds can follow from it.
func addTried(ran []triedWorld, w runs.WorldSpec, o runs.WorldResult) []triedWorld {
	if !o.Grounds.Sound {
		return ran
	}
	return append(ran, triedWorld{w, o})
}

// findRepeated returns the result of a world with one fault, if it follows from the worlds in ran,
// which were run. In each of these worlds a fault must strike the same process at the same moment
// as in w.
func (r *Record) findRepeated(w runs.WorldSpec, ran []triedWorld) (runs.WorldResult, bool) {
	for _, t := range ran {
		lastsAlike := faultLength(t.WorldSpec) == faultLength(w) || t.Grounds.EndedAfter > 0 && faultLength(w) > t.Grounds.EndedAfter
		if lastsAlike && r.sameUntilLifted(w, t.WorldSpec, ran) {
			return t.WorldResult, true
		}
	}
	if t, ok := r.findSameCourse(w, ran); ok {
		return t.WorldResult, true
	}
	return runs.WorldResult{}, false
}

// faultLength returns how long the world's only fault lasts.
func faultLength(w runs.WorldSpec) time.Duration { return w.Faults[0].For }

// sameUntilLifted reports whether two worlds are the same until the first of their two
// faults is lifted.
func (r *Record) sameUntilLifted(a, b runs.WorldSpec, ran []triedWorld) bool {
	f, g := a.Faults[0], b.Faults[0]
	f.For, g.For = 0, 0
	if f.Equal(g) && a.Change.Persistence[f.Target()] == b.Change.Persistence[f.Target()] {
		return true
	}
	if f.Effect() != trace.KillsProcess || r.Roles[f.Target()] != trace.RoleNode || isPowerLoss(f) != isPowerLoss(g) {
		return false
	}
	x, y := r.remainsOf(a, ran), r.remainsOf(b, ran)
	return x == y && x != remainsUnknown
}

// isPowerLoss reports whether a crash stops the machine and not only the process. After a
// power loss the connections of the process are not reset.
func isPowerLoss(f runs.Fault) bool { return trace.Crash(f.How()) == trace.PowerLoss }

// A diskRemains says how much of its data a crash leaves on a disk.
type diskRemains int

const (
	remainsUnknown diskRemains = iota // unknown, or part of the data
	remainsAll
	remainsNone
)

// remainsOf returns what the crash of a world leaves on the node's disk.
func (r *Record) remainsOf(w runs.WorldSpec, ran []triedWorld) diskRemains {
	f := w.Faults[0]
	disk := w.Change.Persistence[f.Target()]
	isUnwritten := func(t triedWorld) bool { return t.Grounds.DiskUnwritten && t.Change.Persistence[f.Target()] == disk }
	switch {
	case disk == "":
		return remainsUnknown
	case !r.forgets(cmp.Or(trace.Crash(f.How()), trace.Kill), disk):
		return remainsAll
	case disk == sim.NoPersistence, slices.ContainsFunc(ran, isUnwritten):
		return remainsNone
	}
	return remainsUnknown
}

// findSameCourse finds a world of ran that has the same events as w, although its fault
// sets a clock to another time. The events must be the same in two cases. In the first, the
// clock is never read. In the second, the clock is a server's, two worlds of ran have the
// same events, and w's fault sets the clock to a time between theirs.
func (r *Record) findSameCourse(w runs.WorldSpec, ran []triedWorld) (triedWorld, bool) {
	f := w.Faults[0]
	if f.Effect() != trace.SetsClock {
		return triedWorld{}, false
	}
	for i, a := range ran {
		if a.Grounds.ClockUnread {
			return a, true
		}
		if r.Roles[f.Target()] != trace.RoleNode {
			continue
		}
		for _, b := range ran[:i] {
			from, to := a.Faults[0].By(), b.Faults[0].By()
			if a.Grounds.CourseHash != 0 && a.Grounds.CourseHash == b.Grounds.CourseHash && min(from, to) < f.By() && f.By() < max(from, to) {
				return a, true
			}
		}
	}
	return triedWorld{}, false
}

// groupByMoment groups single faults of one kind that strike the same processes at the same moment.
// They differ only in their manner and size, so their worlds can repeat each other. Each group has
// the indices of its faults. The groups are in the order of their first faults.
func groupByMoment(all []singleFault) [][]int {
	var moments [][]int
	indexOf := map[string]int{}
	for i, single := range all {
		name := placeName(single.world.Faults[0])
		index, ok := indexOf[name]
		if !ok {
			index = len(moments)
			indexOf[name] = index
			moments = append(moments, nil)
		}
		moments[index] = append(moments[index], i)
	}
	for _, members := range moments {
		if all[members[0]].world.Faults[0].Effect() == trace.SetsClock {
			sortFarthestFirst(all, members)
		}
	}
	return moments
}

// placeName returns a name for the place of a single fault (see [place]). All faults of one
// place get the same name, and no other fault gets this name.
func placeName(f runs.Fault) string {
	message, _ := f.Message()
	return fmt.Sprint(f.Kind(), f.Targets(), f.Strikes, message, f.Step())
}

// sortFarthestFirst sorts faults that set a clock, given by their indices. The two largest
// changes come first: if they make no difference, those between them need not be run. The
// two smallest changes follow.
func sortFarthestFirst(all []singleFault, members []int) {
	by := func(i int) time.Duration { return all[i].world.Faults[0].By() }
	slices.SortStableFunc(members, func(a, b int) int { return cmp.Compare(by(b).Abs(), by(a).Abs()) })
	if n := len(members); n > 4 {
		copy(members, slices.Concat(members[:2], members[n-2:], members[2:n-2]))
	}
}
