package reports

import (
	"strings"
	"unicode/utf8"
)

// wrap breaks s between words into lines of at most width columns, each but the
// first indented. A word longer than a line stays whole.
func wrap(s string, width, indent int) string {
	var b strings.Builder
	col := 0
	for i, word := range strings.Fields(s) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case col+1+n > width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			col = indent
		default:
			b.WriteByte(' ')
			col++
		}
		b.WriteString(word)
		col += n
	}
	return b.String()
}
