package runs

import (
	"hash/fnv"
	"slices"
	"time"

	"github.com/locksim/locksim/trace"
)

// Grounds are what the runs of a world with one fault show besides what they came to. From
// them follows what some other worlds come to: see package explore. The zero Grounds prove
// nothing, as do those of a run in doubt.
type Grounds struct {
	// Sound says that the runs came to their own ends and prove something.
	Sound bool `json:"sound,omitempty"`
	// Over is how long after its fault had struck the run was over, if the fault was not
	// lifted before; of two runs that of the longer one.
	Over time.Duration `json:"over,omitempty"`
	// Course stands for all that happened, and when, whatever the wall clock reads of the
	// process whose clock the fault sets.
	Course uint64 `json:"course,omitempty"`
	// Unread says that nobody has read the wall clock that the fault sets.
	Unread bool `json:"unread,omitempty"`
	// Blank says of the process that the fault kills that it had written nothing to its
	// disk in the background.
	Blank bool `json:"blank,omitempty"`
}

// grounds are those of the runs of a world, one after the other.
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

// course stands for all that happened in the runs but for what a process's wall clock read,
// and by how much it was set.
func course(process string, runs []Account) uint64 {
	sum := fnv.New64a()
	for _, p := range runs {
		p.History.HashCourse(sum, process)
	}
	return sum.Sum64()
}
