package explore

import (
	"encoding/json"
	"hash/fnv"
	"slices"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/trace"
)

// Grounds are what the runs of a world with one fault show besides what they came to. From
// them follows what some other worlds come to: see [Record.repeats]. The zero Grounds prove
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
func grounds(w World, runs ...played) Grounds {
	if len(w.Faults) != 1 {
		return Grounds{}
	}
	for _, p := range runs {
		if p.history == nil || p.Doubt != "" || p.cut || !ended(p.history.Trace) {
			return Grounds{}
		}
	}
	f := w.Faults[0]
	g := Grounds{Sound: true}
	switch f.Effect() {
	case trace.SetsClock:
		g.Course = course(f.Target(), runs)
		g.Unread = !slices.ContainsFunc(runs, func(p played) bool { return !unread(p.history.Trace, f.Target()) })
	case trace.KillsProcess:
		g.Blank = !slices.ContainsFunc(runs, func(p played) bool { return wrote(p.history.Trace, f.Target()) })
	}
	for _, p := range runs {
		over, unlifted := outlived(p.history.Trace)
		if !unlifted {
			g.Over = 0
			break
		}
		g.Over = max(g.Over, over)
	}
	return g
}

// unread says that a client's wall clock was never read, not even to say when a lease ends.
func unread(t *trace.Trace, client string) bool {
	return slices.Contains(t.Unread, client) && !slices.ContainsFunc(t.Events, func(ev trace.Event) bool {
		return ev.Process == client && ev.Ends != nil && ev.Ends.Clock == fakeclock.Wall
	})
}

// ended says that the trace tells when its run was over: what the storage holds is told
// then, and that a run was cut off at its horizon.
func ended(t *trace.Trace) bool {
	n := len(t.Events)
	return n > 0 && (t.Events[n-1].Kind == trace.KindObject || t.Events[n-1].Kind == trace.KindHorizon)
}

// outlived is how long after the only fault had struck the run was over; false if it was
// lifted before that, or never struck.
func outlived(t *trace.Trace) (time.Duration, bool) {
	struck := slices.IndexFunc(t.Events, func(ev trace.Event) bool { return ev.Kind == trace.KindStrike })
	if struck < 0 || !t.Events[struck].Lifts || slices.ContainsFunc(t.Events[struck:], func(ev trace.Event) bool { return ev.Kind == trace.KindLift }) {
		return 0, false
	}
	return t.Events[len(t.Events)-1].At - t.Events[struck].At, true
}

// wrote says whether a process wrote to its disk in the background before it crashed.
func wrote(t *trace.Trace, process string) bool {
	for _, ev := range t.Events {
		switch {
		case ev.Process != process:
		case ev.Kind == trace.KindSync:
			return true
		case ev.Kind == trace.KindCrash:
			return false
		}
	}
	return false
}

// course stands for all that happened in the runs but for what a process's wall clock read,
// and by how much it was set.
func course(process string, runs []played) uint64 {
	sum := fnv.New64a()
	events := json.NewEncoder(sum)
	for _, p := range runs {
		for _, ev := range p.history.Trace.Events {
			switch {
			case ev.Kind == trace.KindStrike:
				ev.Text = ""
			case ev.Kind == trace.KindClock && ev.Process == process:
				clocks := *ev.Clocks
				clocks.Wall = 0
				ev.Clocks = &clocks
			}
			if err := events.Encode(&ev); err != nil {
				panic(err) // an event holds nothing that JSON cannot
			}
		}
	}
	return sum.Sum64()
}
