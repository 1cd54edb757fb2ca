package explore

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/trace"
)

// A chronicle is what is to be done with the events of several lists, in the order of
// the events.
type chronicle []entryAt

type entryAt struct {
	ev *trace.Event
	do func()
}

// add has something done at an event; nil is an event that never came.
func (c *chronicle) add(ev *trace.Event, do func()) {
	if ev != nil {
		*c = append(*c, entryAt{ev, do})
	}
}

// until does it all up to an event, by its Seq. Of one event what was added first comes
// first.
func (c chronicle) until(seq int) {
	slices.SortStableFunc(c, func(a, b entryAt) int { return cmp.Compare(a.ev.Seq, b.ev.Seq) })
	for _, e := range c {
		if e.ev.Seq > seq {
			return
		}
		e.do()
	}
}
