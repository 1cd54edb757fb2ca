package reports

import (
	"slices"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/scenarios"
)

// A badge is a word with a sign and a colour. What a run, a property or a scenario came
// to has the same badge in every report, or a part of it where there is less room.
type badge struct {
	// Class names the colour: good, bad, doubt or soft.
	Class, Sign, Word string
}

// Text is the sign and the word.
func (b badge) Text() string { return b.Sign + " " + b.Word }

var outcomeBadges = map[checks.Outcome]badge{
	checks.Holds:         {"good", "✓", "holds"},
	checks.Violated:      {"bad", "✗", "violated"},
	checks.Unknown:       {"doubt", "?", "unknown"},
	checks.NotApplicable: {"soft", "–", string(checks.NotApplicable)},
}

// outcomeClauses say what became of a property where its name is the subject.
var outcomeClauses = map[checks.Outcome]string{
	checks.Holds: "holds", checks.Violated: "is violated", checks.Unknown: "unknown", checks.NotApplicable: "nothing to judge",
}

var verdictBadges = map[string]badge{
	checks.Safe:      {"good", "✓", checks.Safe},
	checks.Unsafe:    {"bad", "✗", checks.Unsafe},
	checks.Undecided: {"doubt", "?", checks.Undecided},
}

var standingBadges = map[Standing]badge{
	AsExpected:      {"good", "✓", "as expected"},
	NothingExpected: {"doubt", "–", "nothing is expected of this lock"},
	NotAsExpected:   {"bad", "✗", "not as expected"},
	Undecided:       {"doubt", "?", "unknown"},
}

// runBadge is the badge of a run's verdict; a run that is safe and qualified has one of
// its own.
func runBadge(run scenarios.Outcome) badge {
	if len(caveats(run)) > 0 {
		return badge{"doubt", "!", checks.Safe}
	}
	return verdictBadges[run.Verdict.Verdict]
}

// worst is the outcome that counts of several, of which there must be one.
func worst(outcomes []checks.Outcome) checks.Outcome {
	for _, o := range []checks.Outcome{checks.Violated, checks.Unknown} {
		if slices.Contains(outcomes, o) {
			return o
		}
	}
	return outcomes[0]
}
