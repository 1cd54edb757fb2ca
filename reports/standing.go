package reports

import (
	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/scenarios"
)

// Standing is the result of a whole scenario compared with its expectations; a greater
// value is worse.
type Standing int

const (
	// AsExpected: every run is as the scenario expects.
	AsExpected Standing = iota
	// NothingExpected: no run differs from what is expected, but the scenario has no
	// expectation for some.
	NothingExpected
	// NotAsExpected: some run differs from what is expected.
	NotAsExpected
	// Undecided: the verdict of some run is unknown.
	Undecided
)

// StandingOf returns the worst standing of a scenario's runs. An unknown verdict counts as
// worse than a difference.
func StandingOf(r *scenarios.Result) Standing { return standingOfRuns(r.Runs) }

// standingOfRuns returns the worst standing of some runs.
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
