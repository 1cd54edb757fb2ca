package history

import (
	"encoding/json"
	"hash"
	"slices"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/trace"
)

// A search can skip a run that differs from an executed run in one fault only, if the result
// follows from the executed run. The methods of this file answer questions about the executed run
// that decide whether the result follows.

// IsComplete reports whether the trace contains the end of its run: the final state of the
// storage, or the horizon at which the run was cut off.
func (h *History) IsComplete() bool {
	last := h.Last()
	return last != nil && (last.Kind == trace.KindObject || last.Kind == trace.KindHorizon)
}

// WallClockUnread reports whether a client's wall clock was never read, not even to declare
// when a lease ends.
func (h *History) WallClockUnread(client string) bool {
	return slices.Contains(h.Trace.ClockNotReadBy, client) && !slices.ContainsFunc(h.Trace.Events, func(ev trace.Event) bool {
		return ev.Process == client && ev.LeaseEnd != nil && ev.LeaseEnd.Clock == fakeclock.Wall
	})
}

// TimeAfterStrike returns how long the run continued after the first fault struck. It
// returns false if a fault was lifted in that time, if the first fault was not meant to
// end, or if none struck.
func (h *History) TimeAfterStrike() (time.Duration, bool) {
	events := h.Trace.Events
	struck := slices.IndexFunc(events, func(ev trace.Event) bool { return ev.Kind == trace.KindStrike })
	if struck < 0 || !events[struck].HasEnd || slices.ContainsFunc(events[struck:], func(ev trace.Event) bool { return ev.Kind == trace.KindLift }) {
		return 0, false
	}
	return events[len(events)-1].At - events[struck].At, true
}

// WroteInBackground reports whether a process wrote to its disk in the background before it
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

// HashEvents adds all events with their times to a hash. It leaves out the readings of the given
// process's wall clock, and the texts of the strikes. So two runs that differ only in these,
// because the clock was set by a different amount, have the same hash.
func (h *History) HashEvents(sum hash.Hash, process string) {
	events := json.NewEncoder(sum)
	for i := range h.Trace.Events {
		ev := &h.Trace.Events[i]
		switch {
		case ev.Kind == trace.KindStrike:
			strike := *ev
			strike.Text = ""
			ev = &strike
		case ev.Kind == trace.KindClock && ev.Process == process:
			reading, clocks := *ev, *ev.Clocks
			clocks.Wall = 0
			reading.Clocks = &clocks
			ev = &reading
		}
		if err := events.Encode(ev); err != nil {
			panic(err) // an event holds only values that JSON can express
		}
	}
}
