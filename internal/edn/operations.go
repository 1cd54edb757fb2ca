package edn

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// The outcomes of an operation, in Jepsen's words.
const (
	okOutcome      keyword = "ok"   // the operation took effect
	failOutcome    keyword = "fail" // the operation did not take effect
	unknownOutcome keyword = "info" // not known: the operation may take effect at any later time, or never
)

// An operation is one operation of a Jepsen history: its invocation and its completion.
type operation struct {
	// thread is the number of the client, or other process, that invoked the operation. A thread
	// has only one operation at a time.
	thread int
	// f is Jepsen's name for what the operation does: acquire, read, txn …
	f keyword
	// invokedValue is the value in the invocation, and completedValue the value in the
	// completion.
	invokedValue, completedValue any
	// invoked and completed are the events of the run at which the operation began and
	// ended.
	invoked, completed *trace.Event
	outcome            keyword
	// fields are further fields of the invocation and the completion, and resultFields
	// further fields of the completion only.
	fields, resultFields fields
}

// complete sets the completion of the operation.
func (o *operation) complete(ev *trace.Event, outcome keyword, value any) {
	o.completed, o.outcome, o.completedValue = ev, outcome, value
	if ev.Kind == trace.KindEnd && ev.Text != "" {
		o.resultFields = append(o.resultFields, field{"error", ev.Text})
	}
}

// jepsenHistory returns the invocations and completions of operations in Jepsen's form and in their
// order. Jepsen treats an operation with an unknown outcome as one that never ends, so its thread
// continues under the number of a new process: the old number plus the number of threads.
func jepsenHistory(operations []*operation, threadCount int) []fields {
	completeOvertaken(operations)
	type moment struct {
		*operation
		ev      *trace.Event
		invokes bool
	}
	var moments []moment
	for _, o := range operations {
		moments = append(moments, moment{o, o.invoked, true}, moment{o, o.completed, false})
	}
	slices.SortStableFunc(moments, func(a, b moment) int { return a.ev.Seq - b.ev.Seq })

	processes := make([]int, threadCount)
	for i := range processes {
		processes[i] = i
	}
	var history []fields
	for i, m := range moments {
		kind, value, otherFields := keyword("invoke"), m.invokedValue, m.fields
		if !m.invokes {
			kind, value, otherFields = m.outcome, m.completedValue, slices.Concat(m.fields, m.resultFields)
		}
		history = append(history, append(fields{
			{"index", i}, {"time", m.ev.At}, {"process", processes[m.thread]},
			{"type", kind}, {"f", m.f}, {"value", value},
		}, otherFields...))
		if kind == unknownOutcome {
			processes[m.thread] += threadCount
		}
	}
	return history
}

// completeOvertaken gives an unknown outcome to each operation that had not ended when its
// thread began the next one. This happens if the trace lacks the end of the operation.
func completeOvertaken(operations []*operation) {
	latest := map[int]*operation{} // by thread
	byStart := slices.Clone(operations)
	slices.SortStableFunc(byStart, func(a, b *operation) int { return a.invoked.Seq - b.invoked.Seq })
	for _, o := range byStart {
		if previous := latest[o.thread]; previous != nil && o.invoked.Seq < previous.completed.Seq {
			previous.completed, previous.outcome, previous.resultFields = o.invoked, unknownOutcome, nil
		}
		latest[o.thread] = o
	}
}

// clientThreads numbers the clients of a run, in the order of its world, and after them all
// other processes that take steps.
func clientThreads(h *history.History) map[string]int {
	threads := map[string]int{}
	add := func(name string) {
		if _, known := threads[name]; !known {
			threads[name] = len(threads)
		}
	}
	for _, p := range h.Trace.Processes {
		if p.Role == trace.RoleClient {
			add(p.Name)
		}
	}
	for _, c := range h.Calls() {
		if c.Began != nil {
			add(c.Client)
		}
	}
	return threads
}

// endOfCall returns the event at which a call ended: its own end, or its client's crash, or
// the end of the run.
func endOfCall(h *history.History, c *history.Call) *trace.Event {
	return cmp.Or(c.Ended, c.Crashed, h.Last())
}

// stepFields returns the client, the critical section and the token of the step that began with ev.
func stepFields(ev *trace.Event) fields {
	result := fields{{"client", ev.Process}, {"section", ev.Section}}
	if ev.Token > 0 {
		result = append(result, field{"token", ev.Token})
	}
	return result
}
