package history

import (
	"slices"

	"github.com/locksim/locksim/trace"
)

// Decisions are what the storage did with requests, in order: it answered one
// ([trace.KindServe]), or had checked the token of one in a step of its own
// ([trace.KindCheck]). Their events say what came of it.
func (h *History) Decisions() []*trace.Event {
	return h.decisions.of(func() []*trace.Event {
		var all []*trace.Event
		for i := range h.Trace.Events {
			if ev := &h.Trace.Events[i]; ev.Kind == trace.KindServe || ev.Kind == trace.KindCheck {
				all = append(all, ev)
			}
		}
		return all
	})
}

// Served are the requests that the storage answered, in order: their events say what came
// of them.
func (h *History) Served() []*trace.Event {
	return h.served.of(func() []*trace.Event {
		return slices.DeleteFunc(slices.Clone(h.Decisions()), func(ev *trace.Event) bool { return ev.Kind != trace.KindServe })
	})
}

// Objects are the events that say what the objects were when the run was over, in order.
func (h *History) Objects() []*trace.Event {
	var all []*trace.Event
	for i := range h.Trace.Events {
		if ev := &h.Trace.Events[i]; ev.Kind == trace.KindObject {
			all = append(all, ev)
		}
	}
	return all
}
