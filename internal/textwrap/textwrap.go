// Package textwrap fits text into lines.
package textwrap

import (
	"strings"
	"unicode/utf8"
)

// Wrap breaks s between words into lines of at most width columns. It indents all lines
// except the first by indent columns. A word that is longer than a line stays whole.
func Wrap(s string, width, indent int) string {
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

// OneLine returns s as one line, with one space between words.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Clip shortens s to at most limit characters. If it removes any, it appends "…".
func Clip(s string, limit int) string {
	if runes := []rune(s); len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	return s
}
