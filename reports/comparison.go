package reports

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
)

// sideBySide compares the variants of a scenario: a row for each property, a
// column for each variant. What is wider than a page stands in several tables, one below
// the other.
func sideBySide(pairs [][]scenarios.Outcome, p Palette) string {
	var tables []string
	for len(pairs) > 0 {
		n := len(pairs)
		for n > 1 && broad(columns(pairs[:n], Palette{})) {
			n--
		}
		tables = append(tables, columns(pairs[:n], p))
		pairs = pairs[n:]
	}
	return strings.Join(tables, "\n")
}

// broad says that some line of a table without colours is wider than a page.
func broad(table string) bool {
	for line := range strings.Lines(table) {
		if utf8.RuneCountInString(strings.TrimRight(line, " \n")) > pageWidth {
			return true
		}
	}
	return false
}

// columns is one table of those that compare variants.
func columns(pairs [][]scenarios.Outcome, p Palette) string {
	header := []string{"side by side"}
	for _, runs := range pairs {
		header = append(header, story.Visible(runs[0].Variant.Name))
	}
	var rows [][]string
	for _, property := range checks.Properties() {
		row, applies := []string{string(property)}, false
		for _, runs := range pairs {
			row = append(row, signs(runs, property, p))
			applies = applies || !silent(property, runs) && slices.ContainsFunc(runs, func(run scenarios.Outcome) bool {
				return run.Verdict.Finding(property).Outcome != checks.NotApplicable
			})
		}
		if applies {
			rows = append(rows, row)
		}
	}
	if row := missed(pairs); row != nil {
		rows = append(rows, row)
	}
	for i, run := range pairs[0] {
		row := []string{runName[run.Fencing]}
		for _, runs := range pairs {
			row = append(row, verdictCell(runs[i].Verdict.Verdict, p))
		}
		rows = append(rows, row)
	}
	lines := grid(header, rows, nil)
	verdicts := len(lines) - len(pairs[0])
	rule := lines[len(lines)-len(rows)-1] // that under the header
	return strings.Join(slices.Insert(lines, verdicts, rule), "")
}

// missed says which periods of the schedule nobody has run, for each variant; nil if there
// are none.
func missed(pairs [][]scenarios.Outcome) []string {
	row, any := []string{"missed period"}, false
	for _, runs := range pairs {
		var periods []string
		for _, m := range runs[0].Verdict.Missed {
			periods = append(periods, strconv.Itoa(m.Period))
		}
		any = any || len(periods) > 0
		row = append(row, cmp.Or(strings.Join(periods, ", "), "–"))
	}
	if !any {
		return nil
	}
	return row
}

// signs says what became of a property in the runs of one variant: one sign if it
// was the same in all.
func signs(runs []scenarios.Outcome, property checks.Property, p Palette) string {
	var signs []string
	for _, run := range runs {
		o := run.Verdict.Finding(property).Outcome
		signs = append(signs, outcomeSign(o, p))
	}
	if len(slices.Compact(slices.Clone(signs))) == 1 {
		return signs[0]
	}
	return strings.Join(signs, " → ")
}

// measures says what the runs took, as far as the scenario asks: a line for each
// variant, or for each run where they differ.
func measures(pairs [][]scenarios.Outcome) []remark {
	var rows []remark
	for i, name := range checks.MeasureNames() {
		for _, runs := range pairs {
			if !slices.Contains(runs[0].Variant.Measures, name) {
				continue
			}
			said := make([]string, len(runs))
			for j, run := range runs {
				said[j] = story.InLengths.Measure(run.Measures[i])
			}
			text := said[0]
			if len(slices.Compact(slices.Clone(said))) > 1 {
				for j, run := range runs {
					said[j] = runName[run.Fencing] + " " + said[j]
				}
				text = strings.Join(said, "; ")
			}
			if len(pairs) > 1 {
				text = runs[0].Variant.Name + ": " + text
			}
			about := name
			if slices.ContainsFunc(rows, func(r remark) bool { return r.About == story.Raw(name) }) {
				about = ""
			}
			rows = append(rows, remarkOn(about, text))
		}
	}
	return rows
}
