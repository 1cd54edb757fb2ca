package edn

import (
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// sectionsHistory returns what took effect, as transactions on registers: one for each
// section, from its grant to its end, with the reads whose answers it got and the writes
// that the storage applied for it, in the order of the storage. A section without any
// effect has failed. A request outside any section is a transaction of its own, and so is
// the state of all objects at the end of the run.
//
// The history is written with full knowledge of the run. So the outcome of a write without
// an answer is known: it belongs to its section if it was applied, even after the section
// had ended.
func sectionsHistory(r *requests) []fields {
	var operations []*operation
	add := func(o *operation) {
		o.f, o.thread = "txn", len(operations)
		operations = append(operations, o)
	}
	own, rest := r.assign()
	for _, s := range r.Sections() {
		if len(own[s]) > 0 {
			add(transaction(own[s], s.Granted, r.EndEvent(s)))
		}
	}
	for _, o := range rest {
		alone := transaction([]*request{o}, o.FirstEvent(), r.endOf(o))
		if alone.outcome == okOutcome && !o.acknowledged() {
			alone.outcome, alone.completed = infoOutcome, r.Last()
		}
		add(alone)
	}
	if at := r.FinalObjects(); len(at) > 0 {
		final := &operation{invoked: at[0], completed: at[len(at)-1], outcome: okOutcome}
		var asked, got []any
		for _, ev := range at {
			asked = append(asked, []any{keyword("r"), ev.Object, nil})
			got = append(got, []any{keyword("r"), ev.Object, r.finalValue(ev)})
		}
		final.invokedValue, final.completedValue = asked, got
		add(final)
	}
	return jepsenHistory(operations, len(operations))
}

// transaction returns the effects of some requests as one operation.
func transaction(requests []*request, from, to *trace.Event) *operation {
	type effect struct {
		seq int
		op  []any
	}
	var effects []effect
	asked, got := []any{}, []any{}
	for _, o := range requests {
		if o.Step == trace.Read {
			asked = append(asked, []any{keyword("r"), o.Object, nil})
			if o.acknowledged() {
				effects = append(effects, effect{o.last().Seq, []any{keyword("r"), o.Object, o.value}})
			}
			continue
		}
		write := []any{keyword("w"), o.Object, o.value}
		asked = append(asked, write)
		for _, ev := range o.Executions {
			effects = append(effects, effect{ev.Seq, write})
		}
	}
	slices.SortStableFunc(effects, func(a, b effect) int { return a.seq - b.seq })
	for _, e := range effects {
		got = append(got, e.op)
	}
	o := &operation{invoked: from, completed: to, outcome: okOutcome, invokedValue: asked, completedValue: got}
	if from.Process != "" && from.Kind != trace.KindServe {
		o.fields = aboutStep(from)
	}
	if len(effects) == 0 {
		o.outcome, o.completedValue = failOutcome, asked
	}
	return o
}

// assign assigns each request to the section in which its client was, and returns the
// others as rest.
func (r *requests) assign() (own map[*history.Section][]*request, rest []*request) {
	own = map[*history.Section][]*request{}
	for _, o := range r.all {
		var s *history.Section
		if o.Call != nil {
			s = r.Section(o.Call.Acquisition)
		}
		if s == nil || o.FirstEvent().Seq < s.Granted.Seq || o.FirstEvent().Seq > r.EndEvent(s).Seq {
			rest = append(rest, o)
			continue
		}
		own[s] = append(own[s], o)
	}
	return own, rest
}
