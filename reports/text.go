package reports

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/diagram"
	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
)

func init() {
	Runs.Register(Format[Results]{Name: "text", Title: "a terminal: what happened, in order, and which properties broke", Write: writeText})
	Explanations.Register(Format[Results]{Name: "text", Title: "a terminal", Write: explainText})
	Matrices.Register(Format[*Matrix]{Name: "text", Title: "a terminal", Write: writeMatrixText})
	Searches.Register(Format[*explore.Result]{Name: "text", Title: "a terminal", Write: writeExploredText})
	Tallies.Register(Format[*Tally]{Name: "text", Title: "a terminal", Write: writeTallyText})
}

// writeText writes a report of runs for a terminal.
func writeText(w io.Writer, results []*scenarios.Result, o Options) error {
	t := &text{Options: o}
	for i, r := range results {
		if i > 0 {
			t.line("")
			t.line("%s", o.Palette.faint(strings.Repeat("═", t.lineWidth())))
			t.line("")
		}
		t.result(r, results)
	}
	if len(results) > 1 {
		t.line("")
		t.line("%s", o.Palette.faint(strings.Repeat("═", t.lineWidth())))
		var runs []scenarios.RunResult
		for _, r := range results {
			runs = append(runs, r.Runs...)
		}
		t.document(propertyGlossary(violatedIn(runs), runs...))
		t.line("")
		t.line("%s", summary(results))
		t.line("%s", duration(results, o.Took))
	}
	return t.writeTo(w)
}

// result writes one result of the report. If it is the only result, it also explains the
// violated properties. Otherwise they are explained after all results.
func (t *text) result(r *scenarios.Result, results []*scenarios.Result) {
	d := &document{title: titleOf(r.Scenario) + lockOf(r, results)}
	pairs := groupByVariant(r)
	for i, runs := range pairs {
		v := runs[0].Variant
		if len(pairs) > 1 {
			d.beginPart(fmt.Sprintf("variant %d of %d, %s: %s", i+1, len(pairs), story.Visible(v.Name), story.Visible(v.Title)))
		}
		if i == 0 || v.Story != pairs[i-1][0].Variant.Story {
			d.add("", paragraph(storyOf(runs, v.Narrative)))
		}
		timeline, left := t.timeline(runs)
		d.add("", facts(describeSetup(runs[0])), figure(timeline), left, verdictTable(runs), facts(explainRuns(runs)), append(doubtPoints(runs), expectation(runs)...))
		d.add("", turns(r, runs, t.Options)...)
		if block := offeredExpectation(runs); block != "" && !r.Scenario.BuiltIn() {
			d.add("", paragraph(offer(v)), figure(block))
		}
	}
	if len(pairs) > 1 {
		compared := sideBySide(pairs, t.Options)
		d.add("", compared, arrowLegend(compared))
	}
	d.add("", facts(measureFacts(pairs)), paragraph(lessonOf(r.Runs, r.Scenario.Narrative)))
	t.document(d)
	if len(results) == 1 {
		t.document(propertyGlossary(violatedIn(r.Runs), r.Runs...))
	}
	t.gap()
	t.line("replay: %s", replay(r, t.Options))
}

// maxClauses is the maximum number of clauses of one run in a timeline, unless the user
// asks for all (--messages). Longer timelines are hard to read on a terminal.
const maxClauses = 300

// timeline returns the timelines of a variant's runs. If a run has too many clauses, it
// keeps those nearest to the violations, and omitted says how many are left out.
func (t *text) timeline(runs []scenarios.RunResult) (timeline string, omitted paragraph) {
	clauses, folded := clausesOf(runs, t.Messages, false)
	omittedCount := 0
	for i, run := range runs {
		if all := len(clauses[i]); all > maxClauses && !t.Messages {
			clauses[i] = diagram.KeepNearest(run.History, run.Verdict, clauses[i], maxClauses)
			omittedCount = max(omittedCount, all-maxClauses)
		}
	}
	omitted = leftOutSentence(folded, omittedCount, "--messages")
	return timelineOfClauses(runs, clauses, t.Options), omitted
}

// leftOutSentence says what a timeline does not show, and which option shows it: the rows
// that were folded because many clients do the same, and those that were left out. It
// returns "" if both are 0.
func leftOutSentence(folded, omitted int, option string) paragraph {
	var parts []string
	if folded > 0 {
		parts = append(parts, story.Count(folded, "row")+" folded into those for several clients")
	}
	if omitted > 0 {
		parts = append(parts, story.Count(omitted, "step")+" left out here")
	}
	if len(parts) == 0 {
		return ""
	}
	return paragraph(story.Raw(strings.Join(parts, "; ") + "; " + option + " shows all."))
}

// groupByVariant returns the runs of a result, grouped by variant.
func groupByVariant(r *scenarios.Result) [][]scenarios.RunResult {
	var pairs [][]scenarios.RunResult
	for i, run := range r.Runs {
		if i == 0 || run.Variant != r.Runs[i-1].Variant {
			pairs = append(pairs, nil)
		}
		last := len(pairs) - 1
		pairs[last] = append(pairs[last], run)
	}
	return pairs
}

// doubtPoints lists what readers should know before they trust the verdict: which witnesses
// were observed, whether a paused process kept running, and which work was missed, repeated
// or left incomplete.
func doubtPoints(runs []scenarios.RunResult) points {
	var all points
	for i, w := range runs[0].Verdict.Witnesses {
		seen := story.Visible(w.Text)
		if missing := missedIn(runs, i); missing == "" {
			all = append(all, point{goodSign, "happened: " + seen})
		} else {
			all = append(all, point{badSign, strings.TrimSuffix("did NOT happen "+missing, " in any run") + ": " + seen})
		}
	}
	for _, run := range runs {
		addDoubt := func(text string) { all = append(all, point{doubtSign, fencingNames[run.Fencing] + ": " + text}) }
		if run.Verdict.RanOn {
			addDoubt("a paused process kept running, so the lock is not blamed for anything in which that process took part")
		}
		for _, r := range run.Verdict.Repeated {
			addDoubt(story.RepeatedSentence(r).String())
		}
		for _, m := range run.Verdict.Missed {
			addDoubt(story.MissedSentence(m).String())
		}
		for _, torn := range run.Verdict.Torn {
			addDoubt(story.TornSentence(torn).String())
		}
	}
	return all
}

// expectation says whether the runs are as the scenario expects.
func expectation(runs []scenarios.RunResult) points {
	switch standing := standingOfRuns(runs); standing {
	case Undecided:
		return append(points{{standingBadges[standing], undecidedTitle(runs, "this")}}, eachRun(runs, func(run scenarios.RunResult) []checks.Reason { return run.Verdict.Reasons })...)
	case NotAsExpected:
		return append(points{{standingBadges[standing], "not as expected"}}, eachRun(runs, func(run scenarios.RunResult) []checks.Reason { return run.Differences })...)
	case NothingExpected:
		return points{{standingBadges[standing], nothingExpected(runs[0])}}
	}
	return points{{standingBadges[AsExpected], "as expected"}}
}

// eachRun lists the reasons of each run, as getReasons returns them. A reason that is the
// same for all runs appears once.
func eachRun(runs []scenarios.RunResult, getReasons func(scenarios.RunResult) []checks.Reason) points {
	texts := make([][]string, len(runs))
	for i, run := range runs {
		for _, s := range getReasons(run) {
			texts[i] = append(texts[i], story.RenderReasons(s).String())
		}
	}
	var all points
	for i, run := range runs {
		for _, s := range texts[i] {
			inAll := !slices.ContainsFunc(texts, func(other []string) bool { return !slices.Contains(other, s) })
			switch {
			case inAll && i == 0:
				all = append(all, point{Says: s})
			case !inAll:
				all = append(all, point{Says: fencingNames[run.Fencing] + ": " + s})
			}
		}
	}
	return all
}

// summary counts the results by standing.
func summary(results []*scenarios.Result) string {
	counts := map[Standing]int{}
	for _, r := range results {
		counts[StandingOf(r)]++
	}
	noun := "scenario"
	if slices.ContainsFunc(results, func(r *scenarios.Result) bool { return lockOf(r, results) != "" }) {
		noun = "result"
	}
	return story.Count(len(results), noun) + ": " + standingsWords(counts, "this lock")
}

// standingsWords lists the number of results with each standing. lock is the phrase for the
// lock in the text.
func standingsWords(counts map[Standing]int, lock string) string {
	text := fmt.Sprintf("%d as expected, %d not as expected, %d unknown", counts[AsExpected], counts[NotAsExpected], counts[Undecided])
	if n := counts[NothingExpected]; n > 0 {
		text += fmt.Sprintf(", %d without an expectation for %s", n, lock)
	}
	return text
}

// duration says how many runs there were, how much virtual time they took and how much real
// time. It leaves out the real time if took is 0.
func duration(results []*scenarios.Result, took time.Duration) string {
	runs, virtual := 0, time.Duration(0)
	for _, r := range results {
		for _, run := range r.Runs {
			runs++
			virtual += run.History.Trace.End()
		}
	}
	text := fmt.Sprintf("%s: %s of virtual time", story.Count(runs, "run"), story.WaitedTime(virtual))
	if took > 0 {
		text += " in " + story.WaitedTime(took)
	}
	return text
}
