package history

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/trace"
)

// An EventQueue is a list of functions to be called in the order of events.
type EventQueue []entry

type entry struct {
	ev *trace.Event
	do func()
}

// Add schedules do for an event; nil is an event that never happened, and adds nothing.
func (c *EventQueue) Add(ev *trace.Event, do func()) {
	if ev != nil {
		*c = append(*c, entry{ev, do})
	}
}

// RunUntil calls all functions for events up to a Seq. Functions for the same event are
// called in the order in which they were added.
func (c EventQueue) RunUntil(seq int) {
	slices.SortStableFunc(c, func(a, b entry) int { return cmp.Compare(a.ev.Seq, b.ev.Seq) })
	for _, e := range c {
		if e.ev.Seq > seq {
			return
		}
		e.do()
	}
}
