package reports

import (
	"path/filepath"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
)

// runTitle returns the name of a run within its scenario: "gives-up, with fencing".
func runTitle(run scenarios.RunResult) string {
	if run.Variant.Name == "" {
		return fencingNames[run.Fencing]
	}
	return story.Visible(run.Variant.Name) + ", " + fencingNames[run.Fencing]
}

// complaintsOfRun says why a run is not as expected, or why its verdict is unknown. Each
// text is one line. It returns none for any other run.
func complaintsOfRun(run scenarios.RunResult) []story.Raw {
	var reasons []checks.Reason
	switch standingOfRun(run) {
	case NotAsExpected:
		reasons = run.Differences
	case Undecided:
		if reasons = run.Verdict.Reasons; len(reasons) == 0 {
			return []story.Raw{story.Raw("the verdict is " + run.Verdict.Verdict)}
		}
	}
	texts := make([]story.Raw, len(reasons))
	for i, reason := range reasons {
		texts[i] = story.RenderReasons(reason)
	}
	return texts
}

// complaintsOf returns the complaints about some runs. Each has the name of its run as its
// label.
func complaintsOf(runs []scenarios.RunResult) []remark {
	var all []remark
	for _, run := range runs {
		for _, complaint := range complaintsOfRun(run) {
			all = append(all, remarkOn(fencingNames[run.Fencing], complaint))
		}
	}
	return all
}

// complaintTitle returns a title for the complaints about a run.
func complaintTitle(run scenarios.RunResult) string {
	if standingOfRun(run) == Undecided {
		return undecidedTitle([]scenarios.RunResult{run}, "it")
	}
	return "not as expected"
}

// undecidedTitle says that the verdict of some runs is unknown; subject is the pronoun for the
// runs. A changed scenario has no expectations, and the title then says so.
func undecidedTitle(runs []scenarios.RunResult, subject string) string {
	for _, run := range runs {
		if run.Expected != nil {
			return "it is unknown whether " + subject + " is as expected"
		}
	}
	return "the verdict is unknown; " + nothingExpected(runs[0])
}

// nothingExpected says that the scenario has no expectation for the run's lock.
func nothingExpected(run scenarios.RunResult) string {
	if len(run.History.Trace.Overrides) > 0 {
		return "no result is expected, because the scenario was changed"
	}
	return "the scenario has no expectation for the lock " + story.Visible(run.Lock)
}

// explanationLines says what broke in one run, and why. Each line is a label and one
// sentence.
func explanationLines(run scenarios.RunResult) []story.Raw {
	var lines []story.Raw
	for _, r := range explainRuns([]scenarios.RunResult{run}) {
		lines = append(lines, r.About+": "+r.Text)
	}
	return lines
}

// fileOf returns the path of a scenario's file, for programs that open the file. It returns
// "" for a built-in scenario that the command line gave by its name, and for a scenario
// from a saved trace.
func fileOf(s *scenarios.Scenario, o Options) string {
	argument, named := o.Arguments[s]
	if named && filepath.ToSlash(argument) != s.File || o.Traces[s] != "" {
		return ""
	}
	return strings.TrimPrefix(story.Visible(s.File), "./")
}

// visibleTexts returns texts as strings in which invisible characters are made visible.
func visibleTexts(texts []story.Raw) []string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = text.String()
	}
	return all
}
