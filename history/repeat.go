package history

import (
	"encoding/json"
	"hash"
	"slices"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/trace"
)

// What a run shows besides what came of it: from this follows what some other runs, with a
// fault that differs a little, come to.

// Complete says that the trace tells when its run was over: what the storage holds is told
// then, and that a run was cut off at its horizon.
func (h *History) Complete() bool {
	last := h.Last()
	return last != nil && (last.Kind == trace.KindObject || last.Kind == trace.KindHorizon)
}

// Unread says that a client's wall clock was never read, not even to say when a lease ends.
func (h *History) Unread(client string) bool {
	return slices.Contains(h.Trace.Unread, client) && !slices.ContainsFunc(h.Trace.Events, func(ev trace.Event) bool {
		return ev.Process == client && ev.Ends != nil && ev.Ends.Clock == fakeclock.Wall
	})
}

// Outlived is how long after the first fault had struck the run was over; false if a fault
// was lifted before that, or the first cannot be, or none struck.
func (h *History) Outlived() (time.Duration, bool) {
	events := h.Trace.Events
	struck := slices.IndexFunc(events, func(ev trace.Event) bool { return ev.Kind == trace.KindStrike })
	if struck < 0 || !events[struck].Lifts || slices.ContainsFunc(events[struck:], func(ev trace.Event) bool { return ev.Kind == trace.KindLift }) {
		return 0, false
	}
	return events[len(events)-1].At - events[struck].At, true
}

// WroteInBackground says whether a process wrote to its disk in the background before it
// crashed.
func (h *History) WroteInBackground(process string) bool {
	for _, ev := range h.Trace.Events {
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

// HashCourse adds to a hash all that happened, and when, but for what the wall clock of a
// process read, and by how much it was set.
func (h *History) HashCourse(sum hash.Hash, process string) {
	events := json.NewEncoder(sum)
	for _, ev := range h.Trace.Events {
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
