package history

import (
	"slices"

	"github.com/locksim/locksim/trace"
)

// Effects are the writes that a section has made, but for those that only put down that a
// period has been run.
func (s *Section) Effects() []*Operation {
	var effects []*Operation
	for _, o := range s.Operations {
		if o.Makes != nil && (s.Period == 0 || o.Makes.Object != trace.Record) {
			effects = append(effects, o)
		}
	}
	return effects
}

// Runs are the sections that had an effect for a period of a lock's job, in the order in
// which they first had.
func (h *History) Runs(lock string, period int) []*Section {
	var runs []*Section
	for _, s := range h.Sections() {
		if s.Lock == lock && s.Period == period && len(s.Effects()) > 0 {
			runs = append(runs, s)
		}
	}
	slices.SortStableFunc(runs, func(a, b *Section) int { return a.Effects()[0].Seq - b.Effects()[0].Seq })
	return runs
}

// Periods are those of the schedule that have begun, in true time, with the events that say
// so; none without a schedule.
func (h *History) Periods() []*trace.Event { return h.of(trace.KindPeriod) }
