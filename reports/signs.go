package reports

import (
	"slices"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/scenarios"
)

// A badge is a word with a sign and a colour for one result. Every report shows the same
// badge for a result, or a part of it if there is less room.
type badge struct {
	// Class is the name of the colour: good, bad, doubt or soft.
	Class, Sign, Word string
}

// Text returns the sign and the word.
func (b badge) Text() string { return b.Sign + " " + b.Word }

// html returns the badge on a page.
func (b badge) html() g.Node { return h.Span(h.Class("badge "+b.Class), g.Text(b.Text())) }

// outcomeBadges, verdictBadges and standingBadges are the badges of the possible results:
// of a property in a run, of a run, and of a run compared with the expectation.
var outcomeBadges = map[checks.Outcome]badge{
	checks.Holds:         {"good", "✓", "holds"},
	checks.Violated:      {"bad", "✗", "violated"},
	checks.Unknown:       {"doubt", "?", "unknown"},
	checks.NotApplicable: {"soft", "–", string(checks.NotApplicable)},
}

// outcomeClauses complete a sentence whose subject is a property.
var outcomeClauses = map[checks.Outcome]string{
	checks.Holds: "holds", checks.Violated: "is violated", checks.Unknown: "unknown", checks.NotApplicable: "not applicable",
}

var verdictBadges = map[string]badge{
	checks.Safe:      {"good", "✓", checks.Safe},
	checks.Unsafe:    {"bad", "✗", checks.Unsafe},
	checks.Undecided: {"doubt", "?", checks.Undecided},
}

var standingBadges = map[Standing]badge{
	AsExpected:      {"good", "✓", "as expected"},
	NothingExpected: {"doubt", "–", "no expectation for this run"},
	NotAsExpected:   {"bad", "✗", "not as expected"},
	Undecided:       {"doubt", "?", "unknown"},
}

// runBadge returns the badge for a run's verdict. A safe run that violates some property
// has a badge of its own.
func runBadge(run scenarios.RunResult) badge {
	if len(run.Verdict.Caveats()) > 0 {
		return badge{"doubt", "!", checks.Safe}
	}
	return verdictBadges[run.Verdict.Verdict]
}

// worst returns the worst of some outcomes. There must be at least one.
func worst(outcomes []checks.Outcome) checks.Outcome {
	for _, o := range []checks.Outcome{checks.Violated, checks.Unknown} {
		if slices.Contains(outcomes, o) {
			return o
		}
	}
	return outcomes[0]
}
