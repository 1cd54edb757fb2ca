package reports

import (
	"slices"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/scenarios"
)

// Standing says how the result of a scenario compares with what the scenario expects. A
// greater value is worse.
type Standing int

const (
	// AsExpected means that every run is as the scenario expects.
	AsExpected Standing = iota
	// NothingExpected means that no run differs from what the scenario expects, but the
	// scenario has no expectation for some runs.
	NothingExpected
	// NotAsExpected means that some run differs from what the scenario expects.
	NotAsExpected
	// Undecided means that the verdict of some run is unknown.
	Undecided
)

// StandingOf returns the worst standing of a scenario's runs. An unknown verdict is worse
// than a difference.
func StandingOf(r *scenarios.Result) Standing { return standingOfRuns(r.Runs) }

// standingOfRuns returns the worst standing among some runs.
func standingOfRuns(runs []scenarios.RunResult) Standing {
	worst := AsExpected
	for _, run := range runs {
		worst = max(worst, standingOfRun(run))
	}
	return worst
}

// standingOfRun returns the standing of one run.
func standingOfRun(run scenarios.RunResult) Standing {
	switch {
	case run.Verdict.Verdict == checks.Undecided:
		return Undecided
	case len(run.Differences) > 0:
		return NotAsExpected
	case run.Expected == nil:
		return NothingExpected
	}
	return AsExpected
}

// lessonOf returns the lesson of a narrative. It returns "" if a run does not show what the
// lesson says: if it is inconclusive, or if a lock for which the scenario expects nothing
// violates other properties than the scenario's own.
func lessonOf(runs []scenarios.RunResult, n scenarios.Narrative) string {
	isOther := func(run scenarios.RunResult) bool {
		if run.Expected != nil || run.Lock == run.Variant.Lock || run.History == nil {
			return false
		}
		own, ok := run.Variant.Expectation(run.Variant.Lock, run.Fencing)
		violatesMore := func(f checks.Finding) bool {
			return f.Outcome == checks.Violated && !slices.Contains(own.Violated, f.Property)
		}
		return ok && (own.Verdict != run.Verdict.Verdict || slices.ContainsFunc(run.Verdict.Findings, violatesMore))
	}
	if standingOfRuns(runs) == Undecided || slices.ContainsFunc(runs, isOther) {
		return ""
	}
	return n.Lesson
}
