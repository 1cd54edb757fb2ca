package runs

import (
	"hash/fnv"
	"slices"
	"time"

	"github.com/locksim/locksim/trace"
)

// Grounds are observations of the runs of a world with one fault that are not part of its
// result. The results of some other worlds follow from them: see package explore. The zero
// Grounds prove nothing, and neither do those of an inconclusive run.
type Grounds struct {
	// Sound reports that the runs ended normally and are conclusive.
	Sound bool `json:"sound,omitempty"`
	// EndedAfter is the time from the fault's strike to the end of the run, if the fault
	// was not lifted before; 0 if it was. Of two runs it is the longer time.
	EndedAfter time.Duration `json:"over,omitempty"`
	// CourseHash is a hash of all events and their times, without the readings of the wall
	// clock of the process whose clock the fault sets.
	CourseHash uint64 `json:"course,omitempty"`
	// ClockUnread reports that no code has read the wall clock that the fault sets.
	ClockUnread bool `json:"unread,omitempty"`
	// DiskUnwritten reports that the process that the fault kills had written nothing to
	// its disk in the background.
	DiskUnwritten bool `json:"blank,omitempty"`
}

// groundsOf returns the grounds of a world from its runs.
func groundsOf(w WorldSpec, runs ...RunReport) Grounds {
	if len(w.Faults) != 1 {
		return Grounds{}
	}
	for _, p := range runs {
		if p.History == nil || p.Doubt != "" || p.Ending != nil || !p.History.IsComplete() {
			return Grounds{}
		}
	}
	f := w.Faults[0]
	g := Grounds{Sound: true}
	switch f.Effect() {
	case trace.SetsClock:
		g.CourseHash = courseHash(f.Target(), runs)
		g.ClockUnread = !slices.ContainsFunc(runs, func(p RunReport) bool { return !p.History.WallClockUnread(f.Target()) })
	case trace.KillsProcess:
		g.DiskUnwritten = !slices.ContainsFunc(runs, func(p RunReport) bool { return p.History.WroteInBackground(f.Target()) })
	}
	for _, p := range runs {
		over, unlifted := p.History.TimeAfterStrike()
		if !unlifted {
			g.EndedAfter = 0
			break
		}
		g.EndedAfter = max(g.EndedAfter, over)
	}
	return g
}

// courseHash hashes all events of the runs, except what a process's wall clock showed and
// by how much it was set.
func courseHash(process string, runs []RunReport) uint64 {
	sum := fnv.New64a()
	for _, p := range runs {
		p.History.HashEvents(sum, process)
	}
	return sum.Sum64()
}
