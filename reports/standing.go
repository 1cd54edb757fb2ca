package reports

import (
	"slices"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/scenarios"
)

// Standing is what a whole scenario came to.
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

// StandingOf says what a scenario came to. A verdict that is unknown outweighs
// what differs: it is not known to differ.
func StandingOf(r *scenarios.Result) Standing {
	undecided := func(run scenarios.Outcome) bool { return run.Verdict.Verdict == checks.Undecided }
	switch {
	case slices.ContainsFunc(r.Runs, undecided):
		return Undecided
	case r.AsExpected == nil:
		return NothingExpected
	case *r.AsExpected:
		return AsExpected
	}
	return NotAsExpected
}
