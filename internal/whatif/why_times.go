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
		outcome, runs, _, err := runWith(f.Scenario, f.options, overrides...)
		if err != nil {
			return err
		}
		if outcome == f.Now { // otherwise the event cannot be replaced by a time, or the outcome differs
			if f.Scenario, err = f.Scenario.With(overrides...); err != nil {
				return err
			}
			f.history = runs[0].History
			f.Observed = append(f.Observed, overrides...)
		}
	}
	return nil
}

// observedTime returns the overrides that put a time in place of the event in a setting; none
// if the setting is no event at which something ends, or if the event did not happen.
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
	for _, call := range f.history.Calls() {
		if call.Client == client && call.Step == trace.Work {
			if call.Began == nil || call.Ended == nil {
				return nil
			}
			return []string{s.Path + "=" + removal, place + ".works=" + inMilliseconds(call.Ended.At-call.Began.At)}
		}
	}
	return nil
}

// inMilliseconds returns a time as a file has it, rounded up to a millisecond, because fewer
// digits are easier to read.
func inMilliseconds(d time.Duration) string {
	return trace.ShortDuration((d + time.Millisecond - 1).Truncate(time.Millisecond))
}
