package runs

import (
	"hash/fnv"
	"slices"
	"time"

	"github.com/locksim/locksim/trace"
)

// Grounds are observations of the runs of a world with one fault. A search can conclude
// from them that some other worlds have the same result, and need not run those: see
// internal/explore/repeat.go. They are not part of the world's result. The zero Grounds
// prove nothing, and an inconclusive run has zero Grounds.
type Grounds struct {
	// Sound means that the runs ended normally and are conclusive.
	Sound bool `json:"sound,omitempty"`
	// EndedAfter is the time from the strike of the fault to the end of the run. It is 0 if
	// the fault was lifted before the end. Of two runs it is the longer time.
	EndedAfter time.Duration `json:"over,omitempty"`
	// CourseHash is a hash of all events and their times, except what the clock shows that the
	// fault sets. It is 0 unless the fault sets the clock of a server.
	CourseHash uint64 `json:"course,omitempty"`
	// ClockUnread means that no code has read the wall clock that the fault sets.
	ClockUnread bool `json:"unread,omitempty"`
	// DiskUnwritten means that the process that the fault kills had not yet written
	// anything to its disk in the background.
	DiskUnwritten bool `json:"blank,omitempty"`
}

// groundsOf returns the grounds of a world from its one or two runs.
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
		if !runs[0].History.IsClient(f.Target()) {
			g.CourseHash = courseHash(f.Target(), runs)
		}
		g.ClockUnread = !slices.ContainsFunc(runs, func(p RunReport) bool { return !p.History.WallClockUnread(f.Target()) })
	case trace.KillsProcess:
		g.DiskUnwritten = !slices.ContainsFunc(runs, func(p RunReport) bool { return p.History.WroteInBackground(f.Target()) })
	}
	for _, p := range runs {
		timeAfterStrike, isUnlifted := p.History.TimeAfterStrike()
		if !isUnlifted {
			g.EndedAfter = 0
			break
		}
		g.EndedAfter = max(g.EndedAfter, timeAfterStrike)
	}
	return g
}

// courseHash hashes all events of the runs, except what the wall clock of a process showed
// and by how much it was set.
func courseHash(process string, runs []RunReport) uint64 {
	sum := fnv.New64a()
	for _, p := range runs {
		p.History.HashEvents(sum, process)
	}
	return sum.Sum64()
}
