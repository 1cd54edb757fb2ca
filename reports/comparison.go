package reports

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
)

// fencingNames are the names of the two runs of a variant, by their fencing, for people.
var fencingNames = story.FencingNames

// verdictTable returns a table of the runs of one variant. It has a row for each property,
// a column for each run, and the verdicts in the last row.
func verdictTable(runs []scenarios.RunResult) table {
	result, verdictRow := table{Heads: heads("property")}, []tableCell{plainCell("verdict")}
	for _, run := range runs {
		result.Heads = append(result.Heads, heads(fencingNames[run.Fencing])...)
		verdictRow = append(verdictRow, verdictBadges[run.Verdict.Verdict].cell())
	}
	for _, property := range propertiesOf(runs) {
		row := []tableCell{plainCell(string(property))}
		for _, run := range runs {
			row = append(row, outcomeBadges[run.Verdict.Finding(property).Outcome].cell())
		}
		result.add(row...)
	}
	result.Rows = append(result.Rows, tableRow{Cells: verdictRow, ruled: true})
	return result
}

// propertiesOf returns the properties by which the runs are judged. It leaves out a
// property that does not count for the verdict (ReportOnly), unless a run violates it or a
// scenario expects its violation.
func propertiesOf(runs []scenarios.RunResult) []checks.Property {
	verdicts := make([]*checks.Verdict, len(runs))
	for i, run := range runs {
		verdicts[i] = run.Verdict
	}
	return slices.DeleteFunc(checks.JudgedProperties(verdicts...), func(p checks.Property) bool { return isSilent(p, runs) })
}

// violatedIn returns the properties that at least one of the runs violates.
func violatedIn(runs []scenarios.RunResult) []checks.Property {
	return slices.DeleteFunc(propertiesOf(runs), func(p checks.Property) bool {
		return !slices.ContainsFunc(runs, func(run scenarios.RunResult) bool { return run.Verdict.Finding(p).Outcome == checks.Violated })
	})
}

// propertyGlossary explains properties. If some are about the data, it also explains the
// verdict, and n/a if a table of the runs has it. The document is empty if there are no
// properties.
func propertyGlossary(properties []checks.Property, runs ...scenarios.RunResult) *document {
	var legend facts
	var data []checks.Property
	for _, p := range properties {
		legend = append(legend, remarkOn(string(p), p.Title()))
		if p.IsData() {
			data = append(data, p)
		}
	}
	if len(data) > 0 {
		legend = append(legend, remarkOn("verdict", "unsafe if a property of the data is violated, such as "+story.Alternatives(namesOf(data))))
	}
	if len(legend) > 0 && slices.ContainsFunc(propertiesOf(runs), func(p checks.Property) bool {
		return slices.ContainsFunc(runs, func(run scenarios.RunResult) bool { return run.Verdict.Finding(p).Outcome == checks.NotApplicable })
	}) {
		legend = append(legend, remarkOn("n/a", "the property has nothing to judge in the run"))
	}
	d := &document{}
	if len(legend) > 0 {
		d.add("What the properties mean", legend)
	}
	return d
}

// isSilent reports whether a property can be left out of a report. It can be left out if the
// property does not count for the verdict, no run violates it, and no scenario expects a
// violation.
func isSilent(p checks.Property, runs []scenarios.RunResult) bool {
	return p.Card().ReportOnly && !slices.ContainsFunc(runs, func(run scenarios.RunResult) bool {
		return run.Verdict.Finding(p).Outcome == checks.Violated || run.Expected != nil && slices.Contains(run.Expected.Violated, p)
	})
}

// sideBySide draws the results of a scenario's variants next to each other. pairs has the
// runs of each variant. If the table would be wider than a page, sideBySide draws several
// tables, one below the other.
func sideBySide(pairs [][]scenarios.RunResult, o Options) figure {
	var tables []string
	for len(pairs) > 0 {
		n := len(pairs)
		for n > 1 && variantTable(pairs[:n]).width(o) > o.lineWidth() {
			n--
		}
		tables = append(tables, variantTable(pairs[:n]).draw(o))
		pairs = pairs[n:]
	}
	return figure(strings.Join(tables, "\n"))
}

// arrowLegend explains the arrows in a table that [sideBySide] drew; it is empty if there
// are none.
func arrowLegend(drawn figure) paragraph {
	if !strings.Contains(string(drawn), "→") {
		return ""
	}
	return "An arrow leads from the result without fencing to the result with fencing."
}

// variantTable returns a table with a row for each property, a column for each variant, and
// the verdicts in the last rows.
func variantTable(pairs [][]scenarios.RunResult) table {
	out := table{Heads: heads("side by side")}
	for _, runs := range pairs {
		out.Heads = append(out.Heads, heads(story.Visible(runs[0].Variant.Name))...)
	}
	for _, property := range checks.Properties() {
		row, applies := []tableCell{plainCell(string(property))}, false
		for _, runs := range pairs {
			row = append(row, signCell(distinctOutcomes(runs, property), " → ", signSpan))
			applies = applies || !isSilent(property, runs) && slices.ContainsFunc(runs, func(run scenarios.RunResult) bool {
				return run.Verdict.Finding(property).Outcome != checks.NotApplicable
			})
		}
		if applies {
			out.add(row...)
		}
	}
	if row := missedRow(pairs); row != nil {
		out.add(row...)
	}
	for i, run := range pairs[0] {
		row := []tableCell{plainCell(fencingNames[run.Fencing])}
		for _, runs := range pairs {
			row = append(row, verdictBadges[runs[i].Verdict.Verdict].cell())
		}
		out.Rows = append(out.Rows, tableRow{Cells: row, ruled: i == 0})
	}
	return out
}

// missedRow returns a row of [variantTable] with the periods of the schedule in which no
// client ran the job; nil if no variant has any.
func missedRow(pairs [][]scenarios.RunResult) []tableCell {
	row, hasMissed := []tableCell{plainCell("missed period")}, false
	for _, runs := range pairs {
		var periods []string
		for _, m := range runs[0].Verdict.Missed {
			periods = append(periods, strconv.Itoa(m.Period))
		}
		hasMissed = hasMissed || len(periods) > 0
		row = append(row, plainCell(cmp.Or(strings.Join(periods, ", "), "–")))
	}
	if !hasMissed {
		return nil
	}
	return row
}

// distinctOutcomes returns the outcomes of a property in some runs, in their order. It
// lists equal neighbours once.
func distinctOutcomes(runs []scenarios.RunResult, p checks.Property) []checks.Outcome {
	var all []checks.Outcome
	for _, run := range runs {
		all = append(all, run.Verdict.Finding(p).Outcome)
	}
	return slices.Compact(all)
}

// signCell returns a cell with the signs of outcomes, and an arrow between two signs.
func signCell(outcomes []checks.Outcome, arrow string, sign func(badge) span) tableCell {
	var cell tableCell
	for i, o := range outcomes {
		if i > 0 {
			cell = append(cell, span{Text: arrow, Tone: plain})
		}
		cell = append(cell, sign(outcomeBadges[o]))
	}
	return cell
}

// measureFacts lists the measures that the scenario asks for, with a line for each variant.
// If the runs of a variant differ, the line gives the value of each run.
func measureFacts(pairs [][]scenarios.RunResult) []remark {
	var rows []remark
	for i, name := range checks.MeasureNames() {
		for _, runs := range pairs {
			if !slices.Contains(runs[0].Variant.Measures, name) {
				continue
			}
			texts := make([]string, len(runs))
			for j, run := range runs {
				texts[j] = story.ForDurations.Measure(run.Measures[i])
			}
			text := texts[0]
			if len(slices.Compact(slices.Clone(texts))) > 1 {
				for j, run := range runs {
					texts[j] = fencingNames[run.Fencing] + " " + texts[j]
				}
				text = strings.Join(texts, "; ")
			}
			if len(pairs) > 1 {
				text = runs[0].Variant.Name + ": " + text
			}
			label := name
			if slices.ContainsFunc(rows, func(r remark) bool { return r.About == story.Raw(name) }) {
				label = ""
			}
			rows = append(rows, remarkOn(label, text))
		}
	}
	return rows
}
