package history

import (
	"slices"

	"github.com/locksim/locksim/trace"
)

// A Request is one read or write that somebody asked the storage for.
type Request struct {
	// Step is Read or Write.
	Step   trace.Step
	Object string
	// Call is the client's step; nil for a request that is none. Of that only the storage
	// tells.
	Call *Call
	// Carried are the events with which the storage carried it out, in order: more than
	// one if it was sent again. What came of a step and was undone is not among them: see
	// [Version].
	Carried []*trace.Event
}

// First is the event with which one first knows of the request.
func (r *Request) First() *trace.Event {
	if r.Call != nil {
		return r.Call.Began
	}
	return r.Carried[0]
}

// Requests are the reads and writes that the storage was asked for, in the order in which
// they began.
func (h *History) Requests() []*Request {
	type asked struct {
		step
		object string
	}
	var all []*Request
	of := map[asked][]*Request{} // in order
	for _, c := range h.Calls() {
		if c.Began != nil && (c.Step == trace.Read || c.Step == trace.Write) {
			r := &Request{Step: c.Step, Object: c.Began.Object, Call: c}
			all = append(all, r)
			what := asked{step{c.Acquisition, c.Step}, r.Object}
			of[what] = append(of[what], r)
		}
	}
	by := map[*trace.Event]*Request{} // what was carried out
	for _, ev := range h.Decisions() {
		if ev.Kind != trace.KindServe || !ev.OK || ev.Step != trace.Read && ev.Step != trace.Write {
			continue
		}
		what := asked{step{Acquisition{ev.Client(), ev.Section}, ev.Step}, ev.Object}
		before := of[what] // those that the client had made when it sent this one
		for len(before) > 0 && issued(ev) < before[len(before)-1].Call.Began.Seq {
			before = before[:len(before)-1]
		}
		if len(before) == 0 {
			all = append(all, &Request{Step: ev.Step, Object: ev.Object, Carried: []*trace.Event{ev}})
			continue
		}
		r := before[len(before)-1] // which the client may have given up long ago
		r.Carried = append(r.Carried, ev)
		by[ev] = r
	}
	for _, v := range h.Versions() {
		if r := by[v.Made]; r != nil && v.Undone {
			r.Carried = slices.DeleteFunc(r.Carried, func(ev *trace.Event) bool { return ev == v.Made })
		}
	}
	slices.SortStableFunc(all, func(a, b *Request) int { return a.First().Seq - b.First().Seq })
	return all
}
