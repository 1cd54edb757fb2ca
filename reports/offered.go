package reports

import (
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/textwrap"
	"github.com/locksim/locksim/scenarios"
)

// offeredExpectation returns the results of a variant's runs as the block expect: of a
// scenario file, for an author who has made sure that they are right. It returns "" if the
// scenario expects something already or was changed, if a verdict is unknown, or if the runs
// have another lock than the scenario's own.
func offeredExpectation(runs []scenarios.RunResult) string {
	lines := []string{"expect:"}
	for _, run := range runs {
		isOwn := run.Lock == run.Variant.Lock && len(run.History.Trace.Overrides) == 0
		if !isOwn || run.Expected != nil || run.Verdict.Verdict == checks.Undecided {
			return ""
		}
		violated := "violated: [" + strings.Join(namesOf(countedViolations(run)), ", ") + "]"
		lines = append(lines, "  "+run.Fencing+":", "    verdict: "+run.Verdict.Verdict, "    "+textwrap.Wrap(violated, 72, 6))
	}
	return "  " + strings.ReplaceAll(strings.Join(lines, "\n"), "\n", "\n  ") + "\n"
}

// offer says what an author can do with the block that [offeredExpectation] returns.
func offer(v *scenarios.Variant) string {
	subject := "scenario"
	if v.Name != "" {
		subject = "variant " + string(story.Visible(v.Name))
	}
	return "If that is what should happen, the " + subject + " can expect it:"
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
