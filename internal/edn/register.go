package edn

import (
	"github.com/locksim/locksim/trace"
)

// registerHistory returns the reads and writes of one object of the storage as operations on a
// register. Each write writes a unique number, and the initial value is nil. The last operation is
// a read that returns the value at the end of the run.
func registerHistory(r *requests, object string) []fields {
	threads := clientThreads(r.History)
	observer := len(threads) // the number of an additional thread, which reads the final state
	var operations []*operation
	for _, req := range r.all {
		if req.Object != object {
			continue
		}
		op := &operation{thread: observer, f: keyword(req.Step), invoked: req.FirstEvent()}
		if req.Call != nil {
			op.thread, op.fields = threads[req.Call.Client], stepFields(req.Call.Began)
		}
		if req.Step == trace.Write {
			op.invokedValue = req.value
		}
		op.complete(r.endOf(req), req.outcome(), req.value)
		if op.outcome == okOutcome {
			op.resultFields = append(op.resultFields, field{"version", op.completed.Version})
		}
		operations = append(operations, op)
	}
	for _, ev := range r.FinalObjects() {
		if ev.Object == object {
			operations = append(operations, &operation{
				thread: observer, f: keyword(trace.Read), invoked: ev, completed: ev, outcome: okOutcome, completedValue: r.finalValue(ev),
				resultFields: fields{{"version", ev.Version}},
			})
		}
	}
	return jepsenHistory(operations, len(threads)+1)
}
