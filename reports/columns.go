package reports

import (
	"strings"
	"unicode/utf8"

	"github.com/locksim/locksim/internal/lazy"
)

// layOutColumns arranges the cells of a table in columns. Text reports use it if [Options].Columns
// is nil. It counts every character as one column wide.
func layOutColumns(heads []string, rows [][]string) string {
	all := append([][]string{heads}, rows...)
	widths, total := make([]int, len(heads)), 0
	for i := range widths {
		for _, row := range all {
			for line := range strings.SplitSeq(row[i], "\n") {
				widths[i] = max(widths[i], columnsOf(line))
			}
		}
		total += widths[i] + 2
	}
	var b strings.Builder
	for rowNumber, row := range all {
		for lineNumber := range height(row) {
			line := ""
			for i, cell := range row {
				part := ""
				if lines := strings.Split(cell, "\n"); lineNumber < len(lines) {
					part = lines[lineNumber]
				}
				line += "  " + part + strings.Repeat(" ", widths[i]-columnsOf(part))
			}
			b.WriteString(strings.TrimRight(line, " ") + "\n")
		}
		if rowNumber == 0 && len(rows) > 0 {
			b.WriteString(" " + strings.Repeat("─", total) + "\n")
		}
	}
	return b.String()
}

// height returns the number of lines of a row of cells.
func height(row []string) int {
	lines := 0
	for _, cell := range row {
		lines = max(lines, 1+strings.Count(cell, "\n"))
	}
	return lines
}

// colouring matches the escape sequences with which a [Palette] colours a text on a
// terminal.
var colouring = lazy.Regexp("\x1b\\[[0-9;]*m")

// columnsOf returns how many columns a text takes on a terminal.
func columnsOf(s string) int {
	return utf8.RuneCountInString(colouring().ReplaceAllLiteralString(s, ""))
}
