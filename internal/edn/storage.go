package edn

import (
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// A request is one read or write of the storage, and what it read or wrote.
type request struct {
	*history.Request
	// value is, of a write, its number among all writes of the run, from 1; of a read
	// the number of the write that it saw, nil for the object as it was at first.
	value any
}

// outcome is what the client can know. That the last copy of a write was refused says
// nothing of an earlier one. A read that got no answer had no effect either. Nobody tells
// of a request that is no step of a client, beside the storage.
func (r *request) outcome() keyword {
	switch {
	case r.Call == nil || r.Call.OK():
		return took
	case r.Call.Ended == nil:
		return maybe
	case r.Step == trace.Read, r.Call.Ended.Refused && len(r.Call.Again) == 0:
		return failed
	}
	return maybe
}

// acknowledged reports whether the client knows that the request was carried out.
func (r *request) acknowledged() bool { return r.outcome() == took }

// last is the event with which the storage served an acknowledged request, or the answer if
// nothing tells of that.
func (r *request) last() *trace.Event {
	if n := len(r.Carried); n > 0 {
		return r.Carried[n-1]
	}
	return r.Call.Ended
}

// requests are those of a run, in the order in which they began.
type requests struct {
	*history.History
	all []*request
	// writes are the numbers of the writes, by the events with which they were made.
	writes map[*trace.Event]int
}

func readRequests(h *history.History) *requests {
	r := &requests{History: h, writes: map[*trace.Event]int{}}
	writes := 0
	for _, asked := range h.Requests() {
		o := &request{Request: asked}
		if o.Step == trace.Write {
			writes++
			o.value = writes
			for _, ev := range o.Carried {
				r.writes[ev] = writes
			}
		}
		r.all = append(r.all, o)
	}
	for _, o := range r.all {
		if o.Step == trace.Read && o.acknowledged() {
			o.value = r.seen(o)
		}
	}
	return r
}

// seen is the value that a read saw, which is what the object was when the storage
// served it.
func (r *requests) seen(o *request) any {
	if o.Call == nil {
		ev := o.First()
		return r.value(ev, ev.Seq)
	}
	answer := o.Call.Ended
	at := answer.Seq
	for _, served := range o.Carried {
		if served.Version == answer.Version && served.Seq < answer.Seq {
			at = served.Seq
		}
	}
	return r.value(answer, at)
}

// value is the number of the write that made the version of an object that an event speaks
// of, as it was before the event seq; nil for the object as it was at first.
func (r *requests) value(ev *trace.Event, seq int) any {
	if v := r.VersionAt(ev.Object, ev.Version, seq); v != nil {
		return r.writes[v.Made]
	}
	return nil
}

// finally is the value of an object at the end of the run, as its last event tells.
func (r *requests) finally(ev *trace.Event) any { return r.value(ev, ev.Seq) }

// over is the event with which a request was over for its client.
func (r *requests) over(o *request) *trace.Event {
	if o.Call == nil {
		return o.First()
	}
	return overOf(r.History, o.Call)
}

// objects lists what the requests were about, in the order in which it comes up.
func (r *requests) objects() []string {
	var objects []string
	for _, o := range r.all {
		if !slices.Contains(objects, o.Object) {
			objects = append(objects, o.Object)
		}
	}
	return objects
}
