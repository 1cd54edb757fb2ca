package reports

import (
	"slices"

	"github.com/locksim/locksim/trace"
)

// A request is one read or write of a client, and what became of it.
type request struct {
	// step is its beginning. A request that is no step of a client begins and ends when
	// the storage serves it: nobody else tells of it.
	step *trace.Event
	// end is when the client learnt what became of it, or crashed.
	end *trace.Event
	// again says that the client sent it more than once.
	again bool
	// value is, of a write, its number among all writes of the run, from 1; of a read
	// the number of the write that it saw, nil for the object as it was at first.
	value any
	// served are the events with which the storage carried it out. A write that was
	// lost before anybody knew of it is not among them.
	served []*trace.Event
}

// outcome is what the client can know. That the last copy of a write was refused says
// nothing of an earlier one. A read that got no answer had no effect either.
func (r *request) outcome() keyword {
	switch {
	case r.end == nil || r.end.Kind == trace.KindCrash:
		return maybe
	case r.end.OK:
		return took
	case r.step.Step == trace.Read, r.end.Refused && !r.again:
		return failed
	}
	return maybe
}

// acknowledged reports whether the client knows that the request was carried out.
func (r *request) acknowledged() bool { return r.outcome() == took }

// A made version is what one applied write made of an object.
type made struct {
	*request
	ev *trace.Event
	// replaced is what it found; nil for the object as it was at first.
	replaced *made
	// known counts the writes that replaced it and the reads that saw it.
	known int
}

// requestReader follows the requests to the storage.
type requestReader struct {
	// requests are in the order in which they began.
	requests []*request
	open     map[string]*request // by client
	writes   int
	versions []*made
	reverts  []*trace.Event
}

func readRequests(t *trace.Trace) *requestReader {
	r := &requestReader{open: map[string]*request{}}
	for i := range t.Events {
		r.read(&t.Events[i])
	}
	r.undo()
	return r
}

func (r *requestReader) read(ev *trace.Event) {
	accesses := ev.Step == trace.Read || ev.Step == trace.Write
	o := r.open[ev.Process]
	switch {
	case ev.Kind == trace.KindBegin && accesses:
		if o != nil { // of a trace that lacks its end
			o.end = ev
		}
		r.open[ev.Process] = r.begin(ev)
	case ev.Kind == trace.KindAgain && o != nil:
		o.again = true
	case ev.Kind == trace.KindServe && ev.OK && accesses:
		r.serve(ev)
	case ev.Kind == trace.KindEnd && o != nil && o.step.Step == ev.Step:
		delete(r.open, ev.Process)
		o.end = ev
		if ev.Step == trace.Read && ev.OK {
			r.see(o, ev)
		}
	case ev.Kind == trace.KindCrash && o != nil:
		delete(r.open, ev.Process)
		o.end = ev
	case ev.Kind == trace.KindRevert:
		r.reverts = append(r.reverts, ev)
	}
}

func (r *requestReader) begin(ev *trace.Event) *request {
	o := &request{step: ev}
	if ev.Step == trace.Write {
		r.writes++
		o.value = r.writes
	}
	r.requests = append(r.requests, o)
	return o
}

// serve takes in that the storage carried out a request.
func (r *requestReader) serve(ev *trace.Event) {
	o := r.asked(ev)
	if o == nil {
		o = r.begin(ev)
		o.end = ev
		if ev.Step == trace.Read {
			r.see(o, ev)
		}
	}
	o.served = append(o.served, ev)
	if ev.Step == trace.Write {
		replaced := r.version(ev.Object, ev.Replaced, ev.Seq)
		if replaced != nil {
			replaced.known++
		}
		r.versions = append(r.versions, &made{request: o, ev: ev, replaced: replaced})
	}
}

// asked is the request that the storage serves, which may be one that its client has
// given up long ago; nil if it is no step of a client.
func (r *requestReader) asked(ev *trace.Event) *request {
	sent := ev.Seq
	if ev.By != nil && ev.By.Sent > 0 {
		sent = ev.By.Sent
	}
	for _, o := range slices.Backward(r.requests) {
		if s := o.step; s.Kind == trace.KindBegin && s.Seq <= sent && s.Process == ev.Client() &&
			s.Section == ev.Section && s.Step == ev.Step && s.Object == ev.Object {
			return o
		}
	}
	return nil
}

// see gives a read the value that it saw, which is what the object was when the storage
// served it.
func (r *requestReader) see(o *request, ev *trace.Event) {
	at := ev.Seq
	for _, served := range o.served {
		if served.Version == ev.Version {
			at = served.Seq
		}
	}
	if v := r.version(ev.Object, ev.Version, at); v != nil {
		v.known++
		o.value = v.value
	}
}

// version is the version of an object that had a number before the event seq: a
// storage that lost a write gives its number out again. It is nil for the object as
// it was at first.
func (r *requestReader) version(object string, number, seq int) *made {
	for _, v := range slices.Backward(r.versions) {
		if v.ev.Object == object && v.ev.Version == number && v.ev.Seq < seq {
			return v
		}
	}
	return nil
}

// undo takes back what the storage lost before anybody knew of it. It might as well
// never have been made.
func (r *requestReader) undo() {
	for _, v := range slices.Backward(r.versions) {
		lost := slices.ContainsFunc(r.reverts, func(ev *trace.Event) bool {
			return ev.Object == v.ev.Object && ev.Seq > v.ev.Seq && ev.Version < v.ev.Version
		})
		if lost && v.known == 0 && !v.acknowledged() {
			v.served = slices.DeleteFunc(v.served, func(ev *trace.Event) bool { return ev == v.ev })
			if v.replaced != nil {
				v.replaced.known--
			}
		}
	}
}

// finally is the value of an object at the end of the run, as its last event tells.
func (r *requestReader) finally(ev *trace.Event) any {
	if v := r.version(ev.Object, ev.Version, ev.Seq); v != nil {
		return v.value
	}
	return nil
}
