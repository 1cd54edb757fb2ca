package history

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/trace"
)

// A Chronicle is what is to be done with the events of several lists, in the order of
// the events.
type Chronicle []entry

type entry struct {
	ev *trace.Event
	do func()
}

// Add has something done at an event; nil is an event that never came.
func (c *Chronicle) Add(ev *trace.Event, do func()) {
	if ev != nil {
		*c = append(*c, entry{ev, do})
	}
}

// Until does it all up to an event, by its Seq. Of one event what was added first comes
// first.
func (c Chronicle) Until(seq int) {
	slices.SortStableFunc(c, func(a, b entry) int { return cmp.Compare(a.ev.Seq, b.ev.Seq) })
	for _, e := range c {
		if e.ev.Seq > seq {
			return
		}
		e.do()
	}
}
