package whatif

import (
	"strings"
	"time"

	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// fixTimes puts a time in place of each event at which a client stops working, or a fault
// ends, if the outcome is then the same.
func (f *finder) fixTimes() error {
	for _, s := range f.Scenario.Variants[0].Settings() {
		overrides := f.observedTime(s)
		if len(overrides) == 0 {
			continue
		}
		fixed, err := f.Scenario.With(overrides...)
		if err != nil {
			continue // there can be no time
		}
		outcome, runs, _, err := runBoth(fixed, f.options)
		if err != nil {
			return err
		}
		if outcome == f.Now {
			f.Scenario, f.history = fixed, runs[0].History
			f.Observed = append(f.Observed, overrides...)
		}
	}
	return nil
}

// observedTime returns the overrides that put a time in place of an event; none if the
// setting is no such event, or if it did not happen.
func (f *finder) observedTime(s scenarios.Setting) []string {
	if fault, field, ok := cutFault(s.Path); ok {
		if act := f.history.Act(fault); field == "for" && s.Value == "" && act != nil && act.Lifted != nil {
			return []string{s.Path + "=" + inMilliseconds(act.Lifted.At-act.Struck.At)}
		}
		return nil
	}
	place, isWork := strings.CutSuffix(s.Path, ".works-until")
	client, isClient := strings.CutPrefix(place, "clients.")
	if !isWork || !isClient || s.Value == "" {
		return nil
	}
	begin, end := f.firstWork(client, trace.KindBegin), f.firstWork(client, trace.KindEnd)
	if begin == nil || end == nil {
		return nil
	}
	return []string{s.Path + "=" + removal, place + ".works=" + inMilliseconds(end.At-begin.At)}
}

// firstWork returns the first event of a kind in a client's step work; nil if there is none.
func (f *finder) firstWork(client string, kind trace.Kind) *trace.Event {
	events := f.history.Trace.Events
	for i := range events {
		if ev := &events[i]; ev.Process == client && ev.Kind == kind && ev.Step == trace.Work {
			return ev
		}
	}
	return nil
}

// inMilliseconds returns a time as a file has it, rounded up to a millisecond, because fewer
// digits are easier to read.
func inMilliseconds(d time.Duration) string {
	return trace.ShortDuration((d + time.Millisecond - 1).Truncate(time.Millisecond))
}
