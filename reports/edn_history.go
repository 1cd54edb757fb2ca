package reports

import (
	"slices"

	"github.com/locksim/locksim/trace"
)

// What became of an operation, in Jepsen's words.
const (
	took   keyword = "ok"   // it took effect
	failed keyword = "fail" // it did not
	maybe  keyword = "info" // nobody can tell: it may take effect at any time from now on, or never
)

// An operation is what somebody asked for and what became of it.
type operation struct {
	// thread is who asked. A thread asks for one thing at a time.
	thread int
	f      keyword
	// asked is the value of the invocation and got that of the completion.
	asked, got any
	// invoked and completed are the events with which it began and ended.
	invoked, completed *trace.Event
	outcome            keyword
	// about and learnt are more fields, of both and of the completion only.
	about, learnt ednMap
}

// end completes the operation.
func (o *operation) end(ev *trace.Event, outcome keyword, got any) {
	o.completed, o.outcome, o.got = ev, outcome, got
	if ev.Kind == trace.KindEnd && ev.Text != "" {
		o.learnt = append(o.learnt, ednField{"error", ev.Text})
	}
}

// jepsenHistory is the history of operations, as Jepsen writes it: what was invoked and
// what completed, in order. A process is a thread up to the first operation of which
// nobody can tell what became of it; then the thread goes on as another process, whose
// number is higher by the number of threads.
func jepsenHistory(operations []*operation, threads int) []ednMap {
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

	processes := make([]int, threads)
	for i := range processes {
		processes[i] = i
	}
	var history []ednMap
	for i, m := range moments {
		kind, value, more := keyword("invoke"), m.asked, m.about
		if !m.invokes {
			kind, value, more = m.outcome, m.got, slices.Concat(m.about, m.learnt)
		}
		history = append(history, append(ednMap{
			{"index", i}, {"time", m.ev.At}, {"process", processes[m.thread]},
			{"type", kind}, {"f", m.f}, {"value", value},
		}, more...))
		if kind == maybe {
			processes[m.thread] += threads
		}
	}
	return history
}

// clientThreads numbers the clients of a run, in the order in which its world lists
// them, and after them whoever else takes steps.
func clientThreads(t *trace.Trace) map[string]int {
	threads := map[string]int{}
	add := func(name string) {
		if _, known := threads[name]; !known {
			threads[name] = len(threads)
		}
	}
	for _, p := range t.Processes {
		if p.Role == trace.RoleClient {
			add(p.Name)
		}
	}
	for i := range t.Events {
		if ev := &t.Events[i]; ev.Kind == trace.KindBegin {
			add(ev.Process)
		}
	}
	return threads
}

// aboutStep says whose step an operation was.
func aboutStep(ev *trace.Event) ednMap {
	about := ednMap{{"client", ev.Process}, {"section", ev.Section}}
	if ev.Token > 0 {
		about = append(about, ednField{"token", ev.Token})
	}
	return about
}
