package reports

import (
	"fmt"
	"io"
	"slices"

	"github.com/locksim/locksim/internal/diagram"
	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/markdown"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
)

func init() {
	Runs.Register(Format[Results]{Name: "markdown", Title: "the summary of a pull request: what is not as expected first, and in full", Write: writeRunMarkdown})
	Explanations.Register(Format[Results]{Name: "markdown", Title: "a document to keep beside others", Write: explainMarkdown})
	Matrices.Register(Format[*Matrix]{Name: "markdown", Title: "a README or a pull request", Write: writeMatrixMarkdown})
	Searches.Register(Format[*explore.Result]{Name: "markdown", Title: "a pull request", Write: writeExploredMarkdown})
	Tallies.Register(Format[*Tally]{Name: "markdown", Title: "a document", Write: writeTallyMarkdown})
}

// writeRunMarkdown writes a report of runs in Markdown. First it writes the results that
// are not as expected or unknown, in full. Links to scenario files are relative to the
// directory in which locksim runs.
func writeRunMarkdown(w io.Writer, results []*scenarios.Result, o Options) error {
	o = o.forPublication()
	m := &runMarkdown{options: o, all: results}
	m.line("## locksim: %s", summary(results))
	needsAttention := func(r *scenarios.Result) bool {
		standing := StandingOf(r)
		return standing == NotAsExpected || standing == Undecided
	}
	first := slices.DeleteFunc(slices.Clone(results), func(r *scenarios.Result) bool { return !needsAttention(r) })
	others := slices.DeleteFunc(slices.Clone(results), needsAttention)
	m.table(first)
	if len(results) == 1 {
		m.table(others)
		m.describe(results[0], true)
	} else {
		for _, r := range first {
			m.describe(r, false)
		}
		m.collapsedTable(others)
	}
	return m.writeTo(w)
}

// runMarkdown is a report of runs in Markdown that is being written.
type runMarkdown struct {
	markdownText
	options Options
	all     []*scenarios.Result
}

// collapsedTable writes a table of results. It collapses a long table.
func (m *runMarkdown) collapsedTable(results []*scenarios.Result) {
	if len(results) <= longList {
		m.table(results)
		return
	}
	m.gap()
	m.fold("<b>"+story.Count(len(results), "scenario")+" without complaint</b>", func() { m.table(results) })
}

// table writes a table with a row for each variant.
func (m *runMarkdown) table(results []*scenarios.Result) {
	if len(results) == 0 {
		return
	}
	t := table{Heads: heads("", "scenario", "assumption", "without fencing", "with fencing", "what differs")}
	for _, r := range results {
		for _, runs := range groupByVariant(r) {
			row := Row{Scenario: r.Scenario, Variant: runs[0].Variant, Cells: []Cell{{Lock: runs[0].Lock, Runs: runs}}}
			verdicts := map[string]tableCell{}
			var differences []string
			for i, run := range runs {
				verdicts[run.Fencing] = tableCell{markdownVerdict(Cell{Runs: runs}, i)}
				if complaints := complaintsOfRun(run); len(complaints) > 0 {
					differences = append(differences, fencingNames[run.Fencing]+": "+firstComplaint(visibleTexts(complaints)))
				}
			}
			t.add(
				plainCell(standingSign(runs)), tableCell{{row.name() + changedMark(r.Scenario) + lockOf(r, m.all), plain, fileOf(r.Scenario, m.options)}}, plainCell(row.assumption()),
				verdicts[scenarios.Off], verdicts[scenarios.On], plainCell(differences...),
			)
		}
	}
	m.pieces(t)
}

// firstComplaint returns the first complaint, and says how many more there are.
func firstComplaint(complaints []string) string {
	if len(complaints) == 1 {
		return complaints[0]
	}
	return fmt.Sprintf("%s, and %d more", complaints[0], len(complaints)-1)
}

// standingSign returns the sign of the worst standing among the runs of one variant.
func standingSign(runs []scenarios.RunResult) string {
	return standingBadges[standingOfRuns(runs)].Sign
}

// describe says for each variant of a scenario that is not as expected what differs, and
// why. If the scenario is alone in the report, it describes every variant, with all
// properties and the timeline.
func (m *runMarkdown) describe(r *scenarios.Result, alone bool) {
	for _, runs := range groupByVariant(r) {
		complaints := complaintsOf(runs)
		if len(complaints) == 0 && !alone {
			continue
		}
		v := runs[0].Variant
		m.line("\n### %s %s", standingSign(runs), markdown.Escape(Row{Scenario: r.Scenario, Variant: v}.name()+": "+v.Title+changedMark(r.Scenario)+lockOf(r, m.all)))
		m.pieces(facts(describeLocks(runs[0])), facts(complaints))
		if alone {
			m.properties(runs)
		}
		m.line("\nWhat happened:")
		m.pieces(append([]piece{facts(explainRuns(runs))}, turns(r, runs, m.options)...)...)
		if alone {
			m.timeline(runs)
		}
	}
	if glossary := propertyGlossary(violatedIn(r.Runs), r.Runs...); alone && len(glossary.chapters) > 0 {
		m.gap()
		m.fold("<b>"+glossary.chapters[0].title+"</b>", func() { m.pieces(glossary.chapters[0].pieces...) })
	}
	m.line("\n```sh\n%s\n```", replay(r, m.options))
}

// properties writes a table with the outcomes of all properties.
func (m *runMarkdown) properties(runs []scenarios.RunResult) {
	t := table{Heads: heads("property")}
	verdicts := []tableCell{{{Text: "verdict", Tone: strong}}}
	for i, run := range runs {
		t.Heads = append(t.Heads, heads(fencingNames[run.Fencing])...)
		verdicts = append(verdicts, tableCell{markdownVerdict(Cell{Runs: runs}, i)})
	}
	for _, p := range propertiesOf(runs) {
		row := []tableCell{plainCell(string(p))}
		for _, run := range runs {
			row = append(row, plainCell(outcomeBadges[run.Verdict.Finding(p).Outcome].Text()))
		}
		t.add(row...)
	}
	t.add(verdicts...)
	m.pieces(t)
}

// maxSteps is the maximum number of clauses of one run in a Markdown report. GitHub accepts
// about 65,000 characters in a comment.
const maxSteps = 150

// timeline writes what happened in the runs. If a run has too many clauses, it writes those
// nearest to the violations. No line can close the code block around the timeline, because
// every line begins with a sign, a time or blanks.
func (m *runMarkdown) timeline(runs []scenarios.RunResult) {
	clauses, folded := clausesOf(runs, m.options.Messages, true)
	omitted := 0
	for i, run := range runs {
		all := clauses[i]
		clauses[i] = diagram.KeepNearest(run.History, run.Verdict, all, maxSteps)
		omitted += len(all) - len(clauses[i])
	}
	m.pieces(figure(timelineOfClauses(runs, clauses, m.options)))
	if sentence := leftOutSentence(folded, omitted, "`locksim run --messages`"); sentence != "" {
		m.line("\n%s", sentence)
	}
}
