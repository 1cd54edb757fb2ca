package reports

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/story"
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
// lesson says: if it is inconclusive, or has a lock for which the scenario is not written.
func lessonOf(runs []scenarios.RunResult, n scenarios.Narrative) string {
	if standingOfRuns(runs) == Undecided || slices.ContainsFunc(runs, isOtherLock) {
		return ""
	}
	return n.Lesson
}

// preventionOf returns what a narrative says would have prevented the failure. It returns ""
// for a lock for which the scenario is not written.
func preventionOf(runs []scenarios.RunResult, n scenarios.Narrative) string {
	if slices.ContainsFunc(runs, isOtherLock) {
		return ""
	}
	return n.Prevention
}

// storyOf returns the story of a narrative. For a lock for which the scenario is not written, it
// says with which lock the story happens as it is described.
func storyOf(runs []scenarios.RunResult, n scenarios.Narrative) string {
	if n.Story != "" && slices.ContainsFunc(runs, isOtherLock) {
		return fmt.Sprintf("With %s, for which the scenario is written: %s", story.Visible(runs[0].Variant.Lock), n.Story)
	}
	return n.Story
}
