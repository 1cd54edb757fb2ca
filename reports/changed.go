package reports

import (
	"slices"
	"strings"

	"github.com/locksim/locksim/internal/setting"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
)

// changedMark follows the name of a scenario that was changed for its runs.
func changedMark(s *scenarios.Scenario) string {
	if len(s.Overrides) > 0 {
		return " (changed)"
	}
	return ""
}

// changesOf lists the values that were changed in some scenarios, each once.
func changesOf(rows []Row) []remark {
	var all []string
	for _, r := range rows {
		for _, o := range r.Scenario.Overrides {
			if !slices.Contains(all, o) {
				all = append(all, o)
			}
		}
	}
	return rowsOf(setting.DescribeChanges(all))
}

// isOtherLock reports whether a run has another lock than its scenario, and the scenario is not
// written for that lock. Then the author's texts about the scenario are not about the run.
func isOtherLock(run scenarios.RunResult) bool {
	_, isGiven := run.Variant.Expectation(run.Lock, run.Fencing)
	return run.Lock != run.Variant.Lock && !isGiven
}

// withOtherLock returns a phrase for a title that names the lock of the runs; "" if it is the own
// lock of their scenario.
func withOtherLock(runs []scenarios.RunResult) string {
	if len(runs) == 0 || runs[0].Lock == runs[0].Variant.Lock {
		return ""
	}
	return ", with the lock " + story.Visible(runs[0].Lock)
}

// withChanges returns a phrase for the title of a picture or a page that can be seen alone: another
// lock, and the values that were changed. It returns "" if nothing was changed.
func withChanges(s *scenarios.Scenario, runs []scenarios.RunResult) string {
	phrase, changes := withOtherLock(runs), story.Visible(story.List(s.Overrides))
	switch {
	case changes == "":
		return phrase
	case phrase == "":
		return ", with " + changes
	}
	return phrase + " and " + changes
}

// brokenIn returns the assumptions that were broken by the faults that struck in some runs, or
// "none".
func brokenIn(runs []scenarios.RunResult) string {
	var names []string
	for _, run := range runs {
		for i, f := range run.History.Trace.Faults {
			if name := string(f.Assumption); name != "" && run.History.Act(i+1) != nil && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		return "none"
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
