package reports

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/trace"
)

// sectionsHistory is what took effect, as transactions on registers: one for each
// section, from its grant to its end, with the reads whose answers it got and the
// writes that the storage made for it, in the order of the storage. A section of which
// nothing took effect has failed. What a client asks for outside any section is a
// transaction of its own, and so is the state of all objects at the end of the run.
//
// It is told by one who saw everything. So a write without an answer is no riddle: it
// belongs to its section if it was made, even after the section had ended.
func sectionsHistory(t *trace.Trace, r *requestReader) []ednMap {
	var operations []*operation
	add := func(o *operation) {
		o.f, o.thread = "txn", len(operations)
		operations = append(operations, o)
	}
	stays := granted(t)
	rest := assign(r.requests, stays)
	for _, s := range stays {
		if len(s.own) > 0 {
			add(transaction(s.own, s.granted, s.over))
		}
	}
	for _, o := range rest {
		alone := transaction([]*request{o}, o.step, cmp.Or(o.end, lastEvent(t)))
		if alone.outcome == took && !o.acknowledged() {
			alone.outcome, alone.completed = maybe, lastEvent(t)
		}
		add(alone)
	}
	if at := atLast(t); len(at) > 0 {
		final := &operation{invoked: at[0], completed: at[len(at)-1], outcome: took}
		var asked, got []any
		for _, ev := range at {
			asked = append(asked, []any{keyword("r"), ev.Object, nil})
			got = append(got, []any{keyword("r"), ev.Object, r.finally(ev)})
		}
		final.asked, final.got = asked, got
		add(final)
	}
	return jepsenHistory(operations, len(operations))
}

// transaction is what took effect of some requests.
func transaction(requests []*request, from, to *trace.Event) *operation {
	type effect struct {
		seq int
		op  []any
	}
	var effects []effect
	asked, got := []any{}, []any{}
	for _, o := range requests {
		if o.step.Step == trace.Read {
			asked = append(asked, []any{keyword("r"), o.step.Object, nil})
			if o.acknowledged() {
				effects = append(effects, effect{lastOf(o.served, o.end).Seq, []any{keyword("r"), o.step.Object, o.value}})
			}
			continue
		}
		write := []any{keyword("w"), o.step.Object, o.value}
		asked = append(asked, write)
		for _, ev := range o.served {
			effects = append(effects, effect{ev.Seq, write})
		}
	}
	slices.SortStableFunc(effects, func(a, b effect) int { return a.seq - b.seq })
	for _, e := range effects {
		got = append(got, e.op)
	}
	o := &operation{invoked: from, completed: to, outcome: took, asked: asked, got: got}
	if from.Process != "" && from.Kind != trace.KindServe {
		o.about = aboutStep(from)
	}
	if len(effects) == 0 {
		o.outcome, o.got = failed, asked
	}
	return o
}

// lastOf is the last of some events, or another if there are none.
func lastOf(events []*trace.Event, none *trace.Event) *trace.Event {
	if len(events) == 0 {
		return none
	}
	return events[len(events)-1]
}

// A stay is a section: the end of the acquire that began it, the event with which it
// was over, and the requests in between.
type stay struct {
	granted, over *trace.Event
	own           []*request
}

// assign gives each request to the section in which its client was, and returns those
// that belong to none.
func assign(requests []*request, stays []*stay) (rest []*request) {
	of := map[trace.Actor][]*stay{}
	for _, s := range stays {
		actor := trace.Actor{Client: s.granted.Process, Section: s.granted.Section}
		of[actor] = append(of[actor], s)
	}
	for _, o := range requests {
		all := of[trace.Actor{Client: o.step.Process, Section: o.step.Section}]
		i := slices.IndexFunc(all, func(s *stay) bool {
			return o.step.Kind == trace.KindBegin && s.granted.Seq < o.step.Seq && o.step.Seq < s.over.Seq
		})
		if i < 0 {
			rest = append(rest, o)
			continue
		}
		all[i].own = append(all[i].own, o)
	}
	return rest
}

// granted lists the sections of a run, in the order of their grants.
func granted(t *trace.Trace) []*stay {
	var all []*stay
	open := map[string][]*stay{} // by client
	leave := func(ev *trace.Event, everySection bool) {
		open[ev.Process] = slices.DeleteFunc(open[ev.Process], func(s *stay) bool {
			over := everySection || s.granted.Section == ev.Section
			if over {
				s.over = ev
			}
			return over
		})
	}
	for i := range t.Events {
		switch ev := &t.Events[i]; {
		case ev.Kind == trace.KindEnd && ev.Step == trace.Acquire && ev.OK:
			s := &stay{granted: ev}
			all, open[ev.Process] = append(all, s), append(open[ev.Process], s)
		case ev.Kind == trace.KindBegin && ev.Step == trace.Release:
			leave(ev, false)
		case ev.Kind == trace.KindCrash, ev.Kind == trace.KindDone:
			leave(ev, true)
		}
	}
	for _, s := range all {
		s.over = cmp.Or(s.over, lastEvent(t))
	}
	return all
}

// lastEvent is the last event of a run that has events.
func lastEvent(t *trace.Trace) *trace.Event { return &t.Events[len(t.Events)-1] }

// atLast are the events that say what the objects were at the end of the run.
func atLast(t *trace.Trace) []*trace.Event {
	var events []*trace.Event
	for i := range t.Events {
		if t.Events[i].Kind == trace.KindObject {
			events = append(events, &t.Events[i])
		}
	}
	return events
}
