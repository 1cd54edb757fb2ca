package history

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/trace"
)

// An EventQueue is a list of functions, each of which belongs to one event of a run. The
// functions are called in the order of their events.
type EventQueue []entry

type entry struct {
	ev *trace.Event
	do func()
}

// Add adds a function to call for an event. It adds nothing if ev is nil, which means that
// the event never happened.
func (c *EventQueue) Add(ev *trace.Event, do func()) {
	if ev != nil {
		*c = append(*c, entry{ev, do})
	}
}

// RunUntil calls the functions for all events up to the event seq. Functions for the same
// event are called in the order in which they were added.
func (c EventQueue) RunUntil(seq int) {
	slices.SortStableFunc(c, func(a, b entry) int { return cmp.Compare(a.ev.Seq, b.ev.Seq) })
	for _, e := range c {
		if e.ev.Seq > seq {
			return
		}
		e.do()
	}
}
