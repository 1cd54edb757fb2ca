package edn

import (
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// A request is one read or write of the storage, with its value in the histories.
type request struct {
	*history.Request
	// value is, for a write, its number among all writes of the run, from 1. For a read it
	// is the number of the write whose value it returned, or nil for the initial value.
	value any
}

// outcome returns the outcome as far as the client can know it. If Call is nil, no step of a client
// sent the request, and the trace has it only because the storage executed it: its outcome is ok.
// If a write was sent more than once and the last copy was refused, an earlier copy may have been
// applied. A failed read had no effect.
func (r *request) outcome() keyword {
	switch {
	case r.Call == nil || r.Call.OK():
		return okOutcome
	case r.Call.Ended == nil:
		return unknownOutcome
	case r.Step == trace.Read, r.Call.Ended.Refused && len(r.Call.Resent) == 0:
		return failOutcome
	}
	return unknownOutcome
}

// acknowledged reports whether the client knows that the request was executed.
func (r *request) acknowledged() bool { return r.outcome() == okOutcome }

// serveEvent returns the last event at which the storage executed an acknowledged request. If there
// is none, it returns the end of the client's call.
func (r *request) serveEvent() *trace.Event {
	if n := len(r.Executions); n > 0 {
		return r.Executions[n-1]
	}
	return r.Call.Ended
}

// requests are the requests of a run, in the order in which they began.
type requests struct {
	*history.History
	all []*request
	// writes maps each event with which the storage applied a write to the number of that
	// write.
	writes map[*trace.Event]int
}

// readRequests returns the requests of a run with their values.
func readRequests(h *history.History) *requests {
	r := &requests{History: h, writes: map[*trace.Event]int{}}
	writes := 0
	for _, source := range h.Requests() {
		req := &request{Request: source}
		if req.Step == trace.Write {
			writes++
			req.value = writes
			for _, ev := range req.Executions {
				r.writes[ev] = writes
			}
		}
		r.all = append(r.all, req)
	}
	for _, req := range r.all {
		if req.Step == trace.Read && req.acknowledged() {
			req.value = r.valueSeen(req)
		}
	}
	return r
}

// valueSeen returns the value that a read returned: the value that the object had when the
// storage executed the read.
func (r *requests) valueSeen(req *request) any {
	if req.Call == nil {
		ev := req.FirstEvent()
		return r.value(ev, ev.Seq)
	}
	answer := req.Call.Ended
	seq := answer.Seq
	for _, served := range req.Executions {
		if served.Version == answer.Version && served.Seq < answer.Seq {
			seq = served.Seq
		}
	}
	return r.value(answer, seq)
}

// value returns the number of the write that made the version of the object which ev names;
// nil for the initial value. It counts only events up to the event numbered seq: a storage
// that has lost a write gives the same version number again, so the version number alone is
// ambiguous.
func (r *requests) value(ev *trace.Event, seq int) any {
	if v := r.VersionAt(ev.Object, ev.Version, seq); v != nil {
		return r.writes[v.Made]
	}
	return nil
}

// finalValue returns the value of an object at the end of the run. ev is the event that
// gives the object's final state.
func (r *requests) finalValue(ev *trace.Event) any { return r.value(ev, ev.Seq) }

// endOf returns the event at which a request ended for its client.
func (r *requests) endOf(o *request) *trace.Event {
	if o.Call == nil {
		return o.FirstEvent()
	}
	return endOfCall(r.History, o.Call)
}

// objects returns the objects of the requests, each once, in the order of their first
// requests.
func (r *requests) objects() []string {
	var objects []string
	for _, o := range r.all {
		if !slices.Contains(objects, o.Object) {
			objects = append(objects, o.Object)
		}
	}
	return objects
}
