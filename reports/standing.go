package reports

import (
	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/scenarios"
)

// Standing is what a whole scenario came to, the better before the worse.
type Standing int

const (
	// AsExpected: every run came to what the scenario expects.
	AsExpected Standing = iota
	// NothingExpected: no run came to anything else than expected, but the
	// scenario does not say what to expect of some.
	NothingExpected
	// NotAsExpected: some run came to something else.
	NotAsExpected
	// Undecided: the verdict of some run is unknown.
	Undecided
)

// StandingOf says what a scenario came to: the worst of what its runs came to. A verdict
// that is unknown outweighs what differs: it is not known to differ.
func StandingOf(r *scenarios.Result) Standing { return standingOfRuns(r.Runs) }

// standingOfRuns is the worst standing of some runs.
func standingOfRuns(runs []scenarios.Outcome) Standing {
	worst := AsExpected
	for _, run := range runs {
		worst = max(worst, standingOfRun(run))
	}
	return worst
}

// standingOfRun is what one run came to.
func standingOfRun(run scenarios.Outcome) Standing {
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
