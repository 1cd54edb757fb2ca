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
	Over time.Duration `json:"over,omitempty"`
	// CourseHash is a hash of all events and their times, without the readings of the wall
	// clock of the process whose clock the fault sets.
	Course uint64 `json:"course,omitempty"`
	// ClockUnread reports that no code has read the wall clock that the fault sets.
	Unread bool `json:"unread,omitempty"`
	// DiskUnwritten reports that the process that the fault kills had written nothing to
	// its disk in the background.
	Blank bool `json:"blank,omitempty"`
}

// groundsOf returns the grounds of a world from its runs.
func grounds(w World, runs ...Account) Grounds {
	if len(w.Faults) != 1 {
		return Grounds{}
	}
	for _, p := range runs {
		if p.History == nil || p.Doubt != "" || p.Ending != nil || !p.History.Complete() {
			return Grounds{}
		}
	}
	f := w.Faults[0]
	g := Grounds{Sound: true}
	switch f.Effect() {
	case trace.SetsClock:
		g.Course = course(f.Target(), runs)
		g.Unread = !slices.ContainsFunc(runs, func(p Account) bool { return !p.History.Unread(f.Target()) })
	case trace.KillsProcess:
		g.Blank = !slices.ContainsFunc(runs, func(p Account) bool { return p.History.WroteInBackground(f.Target()) })
	}
	for _, p := range runs {
		over, unlifted := p.History.Outlived()
		if !unlifted {
			g.Over = 0
			break
		}
		g.Over = max(g.Over, over)
	}
	return g
}

// courseHash hashes all events of the runs, except what a process's wall clock showed and
// by how much it was set.
func course(process string, runs []Account) uint64 {
	sum := fnv.New64a()
	for _, p := range runs {
		p.History.HashCourse(sum, process)
	}
	return sum.Sum64()
}
