package reports

import (
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/textwrap"
	"github.com/locksim/locksim/scenarios"
)

// offeredExpectation returns what the runs of a variant have come to in the form in which a
// scenario file expects it, for an author who has made sure that it is right. It returns ""
// if the scenario expects something already, was changed, or has an unknown verdict.
func offeredExpectation(runs []scenarios.RunResult) string {
	v, lock := runs[0].Variant, runs[0].Lock
	if standingOfRuns(runs) != NothingExpected || len(runs[0].History.Trace.Overrides) > 0 {
		return ""
	}
	indent := "  "
	lines := []string{"expect:"}
	if lock != v.Lock {
		lines, indent = []string{"expect-with:", "  " + string(story.Visible(lock)) + ":"}, "    "
	}
	for _, run := range runs {
		if run.Verdict.Verdict == checks.Undecided {
			return ""
		}
		lines = append(lines, indent+run.Fencing+":", indent+"  verdict: "+run.Verdict.Verdict)
		violated := "violated: [" + strings.Join(namesOf(countedViolations(run)), ", ") + "]"
		lines = append(lines, indent+"  "+textwrap.Wrap(violated, 76, len(indent)+4))
	}
	return "  " + strings.Join(strings.Split(strings.Join(lines, "\n"), "\n"), "\n  ") + "\n"
}

// countedViolations returns the violated properties of a run that an expectation has to
// name.
func countedViolations(run scenarios.RunResult) []checks.Property {
	var all []checks.Property
	for _, f := range run.Verdict.Findings {
		if f.Outcome == checks.Violated && (!f.Property.Card().ReportOnly || f.Counts()) {
			all = append(all, f.Property)
		}
	}
	return all
}
