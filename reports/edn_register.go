package reports

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/trace"
)

// objectsOf lists the objects of some requests, in the order in which they come up.
func objectsOf(requests []*request) []string {
	var objects []string
	for _, o := range requests {
		if !slices.Contains(objects, o.step.Object) {
			objects = append(objects, o.step.Object)
		}
	}
	return objects
}

// registerHistory is what the clients know of one object, as a register: each write
// writes a number of its own, nil is what the object was at first, and the last read
// is what it was when the run ended.
func registerHistory(t *trace.Trace, r *requestReader, object string) []ednMap {
	threads := clientThreads(t)
	observer := len(threads) // who knows what no client does
	var operations []*operation
	for _, o := range r.requests {
		if o.step.Object != object {
			continue
		}
		op := &operation{thread: observer, f: keyword(o.step.Step), invoked: o.step}
		if o.step.Kind == trace.KindBegin {
			op.thread, op.about = threads[o.step.Process], aboutStep(o.step)
		}
		if o.step.Step == trace.Write {
			op.asked = o.value
		}
		op.end(cmp.Or(o.end, lastEvent(t)), o.outcome(), o.value)
		if op.outcome == took {
			op.learnt = append(op.learnt, ednField{"version", op.completed.Version})
		}
		operations = append(operations, op)
	}
	for i := range t.Events {
		if ev := &t.Events[i]; ev.Kind == trace.KindObject && ev.Object == object {
			operations = append(operations, &operation{
				thread: observer, f: keyword(trace.Read), invoked: ev, completed: ev, outcome: took, got: r.finally(ev),
				learnt: ednMap{{"version", ev.Version}},
			})
		}
	}
	return jepsenHistory(operations, len(threads)+1)
}
