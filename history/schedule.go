package history

import (
	"slices"

	"github.com/locksim/locksim/trace"
)

// Effects returns a critical section's writes that the storage applied. In a run with a schedule (a
// job is to be run once in each period), it leaves out the writes that only record that the job of
// a period has been run.
func (s *Section) Effects() []*Operation {
	var effects []*Operation
	for _, o := range s.Operations {
		if o.Makes != nil && (s.Period == 0 || o.Makes.Object != trace.PeriodRecord) {
			effects = append(effects, o)
		}
	}
	return effects
}

// PeriodRuns returns the sections that ran the job of a lock for a period, in the order of
// their first effects: see [Section.Effects].
func (h *History) PeriodRuns(lock string, period int) []*Section {
	var runs []*Section
	for _, s := range h.Sections() {
		if s.Lock == lock && s.Period == period && len(s.Effects()) > 0 {
			runs = append(runs, s)
		}
	}
	slices.SortStableFunc(runs, func(a, b *Section) int { return a.Effects()[0].Seq - b.Effects()[0].Seq })
	return runs
}

// Periods returns the events with which periods of the schedule began, in true time; none
// without a schedule.
func (h *History) Periods() []*trace.Event { return h.eventsOf(trace.KindPeriod) }
