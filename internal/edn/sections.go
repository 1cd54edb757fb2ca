package edn

import (
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// sectionsHistory returns the effects of the requests to the storage as transactions on registers.
// Each critical section that sent a request is one transaction, from its grant to its end. The
// transaction contains the section's reads that were answered and its writes that the storage
// applied, in the order in which the storage executed them. If there are none, the outcome of the
// transaction is fail. A request outside any section is a transaction of its own. The last
// transaction reads all objects at the end of the run.
//
// The history is written with full knowledge of the run. A write whose answer was lost
// therefore has a known outcome: it is part of its section's transaction if the storage
// applied it, even if the storage did so after the section had ended.
func sectionsHistory(r *requests) []fields {
	var operations []*operation
	add := func(o *operation) {
		o.f, o.thread = "txn", len(operations)
		operations = append(operations, o)
	}
	bySection, outside := r.assign()
	for _, s := range r.Sections() {
		if len(bySection[s]) > 0 {
			add(transaction(bySection[s], s.Granted, r.EndEvent(s)))
		}
	}
	for _, o := range outside {
		single := transaction([]*request{o}, o.FirstEvent(), r.endOf(o))
		// The storage may have applied a write without an answer after its client had
		// stopped waiting. Such a transaction has no end before the end of the run.
		if single.outcome == okOutcome && !o.acknowledged() {
			single.outcome, single.completed = unknownOutcome, r.Last()
		}
		add(single)
	}
	if finalEvents := r.FinalObjects(); len(finalEvents) > 0 {
		final := &operation{invoked: finalEvents[0], completed: finalEvents[len(finalEvents)-1], outcome: okOutcome}
		var requested, observed []any
		for _, ev := range finalEvents {
			requested = append(requested, []any{keyword("r"), ev.Object, nil})
			observed = append(observed, []any{keyword("r"), ev.Object, r.finalValue(ev)})
		}
		final.invokedValue, final.completedValue = requested, observed
		add(final)
	}
	return jepsenHistory(operations, len(operations))
}

// transaction returns the effects of some requests as one operation. from is its invocation,
// and to its completion.
func transaction(requests []*request, from, to *trace.Event) *operation {
	type effect struct {
		seq int
		op  []any
	}
	var effects []effect
	requested, observed := []any{}, []any{}
	for _, o := range requests {
		if o.Step == trace.Read {
			requested = append(requested, []any{keyword("r"), o.Object, nil})
			if o.acknowledged() {
				effects = append(effects, effect{o.serveEvent().Seq, []any{keyword("r"), o.Object, o.value}})
			}
			continue
		}
		write := []any{keyword("w"), o.Object, o.value}
		requested = append(requested, write)
		for _, ev := range o.Executions {
			effects = append(effects, effect{ev.Seq, write})
		}
	}
	slices.SortStableFunc(effects, func(a, b effect) int { return a.seq - b.seq })
	for _, e := range effects {
		observed = append(observed, e.op)
	}
	o := &operation{invoked: from, completed: to, outcome: okOutcome, invokedValue: requested, completedValue: observed}
	// An event of kind KindServe is an event of the storage, and not the beginning of a client's
	// step.
	if from.Process != "" && from.Kind != trace.KindServe {
		o.fields = stepFields(from)
	}
	if len(effects) == 0 {
		o.outcome, o.completedValue = failOutcome, requested
	}
	return o
}

// assign assigns each request to the section in which its client was when it began the
// request. The result outside has the requests that belong to no section.
func (r *requests) assign() (bySection map[*history.Section][]*request, outside []*request) {
	bySection = map[*history.Section][]*request{}
	for _, req := range r.all {
		var s *history.Section
		if req.Call != nil {
			s = r.Section(req.Call.Acquisition)
		}
		if s == nil || req.FirstEvent().Seq < s.Granted.Seq || req.FirstEvent().Seq > r.EndEvent(s).Seq {
			outside = append(outside, req)
			continue
		}
		bySection[s] = append(bySection[s], req)
	}
	return bySection, outside
}
