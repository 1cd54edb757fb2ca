package command

import (
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/tw"
)

// columns formats a table as text, with a line under the headings. It counts a character
// that is two columns wide as two.
func columns(heads []string, rows [][]string) string {
	var b strings.Builder
	t := tablewriter.NewTable(&b,
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithHeaderAlignment(tw.AlignLeft),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithTrimSpace(tw.Off),
		tablewriter.WithRendition(tw.Rendition{
			Borders:  tw.BorderNone,
			Symbols:  tw.NewSymbols(tw.StyleLight),
			Settings: tw.Settings{Separators: tw.Separators{BetweenColumns: tw.Off}},
		}),
	)
	t.Header(heads)
	for _, row := range rows {
		if err := t.Append(row); err != nil {
			panic(err) // impossible: a row of strings is always valid
		}
	}
	if err := t.Render(); err != nil {
		panic(err) // impossible: writing to a strings.Builder does not fail
	}
	var drawn strings.Builder
	for line := range strings.Lines(b.String()) {
		drawn.WriteString(strings.TrimRight(" "+line, " \n") + "\n")
	}
	return drawn.String()
}
