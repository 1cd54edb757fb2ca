package reports

import (
	"slices"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/tw"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/scenarios"
)

// runName is what people call a run.
var runName = map[string]string{
	scenarios.Off: "without fencing",
	scenarios.On:  "with fencing",
}

// table has a row for each property, a column for each run, and the verdicts
// below.
func table(runs []scenarios.Outcome, p Palette) string {
	header, footer := []string{"property"}, []string{"verdict"}
	for _, run := range runs {
		header = append(header, runName[run.Fencing])
		footer = append(footer, verdictCell(run.Verdict.Verdict, p))
	}
	var rows [][]string
	for _, property := range propertiesOf(runs) {
		row := []string{string(property)}
		for _, run := range runs {
			row = append(row, outcomeCell(run.Verdict.Finding(property).Outcome, p))
		}
		rows = append(rows, row)
	}
	return strings.Join(grid(header, rows, footer), "")
}

// propertiesOf are the properties that some runs are judged by. One that is only reported is left
// out unless it is violated or expected to be.
func propertiesOf(runs []scenarios.Outcome) []checks.Property {
	verdicts := make([]*checks.Verdict, len(runs))
	for i, run := range runs {
		verdicts[i] = run.Verdict
	}
	return slices.DeleteFunc(checks.Judged(verdicts...), func(p checks.Property) bool { return silent(p, runs) })
}

// silent reports whether a property that is only reported has nothing to report: no run violates it
// and no scenario expects one to.
func silent(p checks.Property, runs []scenarios.Outcome) bool {
	return p.Card().ReportOnly && !slices.ContainsFunc(runs, func(run scenarios.Outcome) bool {
		return run.Verdict.Finding(p).Outcome == checks.Violated || run.Expected != nil && slices.Contains(run.Expected.Violated, p)
	})
}

// grid lays cells out in columns, one line for each row, with lines drawn under
// the header and around the footer, if there is one.
func grid(header []string, rows [][]string, footer []string) []string {
	var b strings.Builder
	t := tablewriter.NewTable(&b,
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithHeaderAlignment(tw.AlignLeft),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithTrimSpace(tw.Off),
		tablewriter.WithFooterConfig(tw.CellConfig{
			Alignment: tw.CellAlignment{Global: tw.AlignLeft},
			Padding:   tw.CellPadding{Global: tw.PaddingDefault},
		}),
		tablewriter.WithRendition(tw.Rendition{
			Borders:  tw.BorderNone,
			Symbols:  tw.NewSymbols(tw.StyleLight),
			Settings: tw.Settings{Separators: tw.Separators{BetweenColumns: tw.Off}},
		}),
	)
	t.Header(header)
	for _, row := range rows {
		if err := t.Append(row); err != nil {
			panic(err) // a row of strings is always a row
		}
	}
	if footer != nil {
		t.Footer(footer)
	}
	if err := t.Render(); err != nil {
		panic(err) // a strings.Builder takes everything
	}
	lines := strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(" "+line, " ") + "\n"
	}
	return lines
}
