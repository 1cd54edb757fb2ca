package history

import (
	"slices"

	"github.com/locksim/locksim/trace"
)

// A Request is one read or write that a client asked of the storage.
type Request struct {
	// Step is Read or Write.
	Step   trace.Step
	Object string
	// Call is the client's step. It is nil for a request outside any step, which only the
	// storage's events show.
	Call *Call
	// Executions are the events with which the storage executed the request, in order. There are
	// several if the client sent the request again. An execution whose write the storage lost
	// before anybody knew of it is left out: see [Version.IsUndone].
	Executions []*trace.Event
}

// FirstEvent returns the first event of the request.
func (r *Request) FirstEvent() *trace.Event {
	if r.Call != nil {
		return r.Call.Began
	}
	return r.Executions[0]
}

// Requests returns the reads and writes that clients asked of the storage, in the order in
// which they began.
func (h *History) Requests() []*Request {
	type asked struct {
		step
		object string
	}
	var all []*Request
	byStep := map[asked][]*Request{} // in order
	for _, c := range h.Calls() {
		if c.Began != nil && (c.Step == trace.Read || c.Step == trace.Write) {
			r := &Request{Step: c.Step, Object: c.Began.Object, Call: c}
			all = append(all, r)
			key := asked{step{c.Acquisition, c.Step}, r.Object}
			byStep[key] = append(byStep[key], r)
		}
	}
	byExecution := map[*trace.Event]*Request{} // each request by the event of its execution
	for _, ev := range h.StorageDecisions() {
		if ev.Kind != trace.KindServe || !ev.OK || ev.Step != trace.Read && ev.Step != trace.Write {
			continue
		}
		key := asked{step{Acquisition{ev.Client(), ev.Section}, ev.Step}, ev.Object}
		earlier := byStep[key] // the requests made before ev was issued
		for len(earlier) > 0 && issued(ev) < earlier[len(earlier)-1].Call.Began.Seq {
			earlier = earlier[:len(earlier)-1]
		}
		if len(earlier) == 0 {
			all = append(all, &Request{Step: ev.Step, Object: ev.Object, Executions: []*trace.Event{ev}})
			continue
		}
		r := earlier[len(earlier)-1] // the client may have given up this request long ago
		r.Executions = append(r.Executions, ev)
		byExecution[ev] = r
	}
	for _, v := range h.Versions() {
		if r := byExecution[v.Made]; r != nil && v.IsUndone {
			r.Executions = slices.DeleteFunc(r.Executions, func(ev *trace.Event) bool { return ev == v.Made })
		}
	}
	slices.SortStableFunc(all, func(a, b *Request) int { return a.FirstEvent().Seq - b.FirstEvent().Seq })
	return all
}
