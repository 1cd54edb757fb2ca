package quiz

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/locksim/locksim/internal/paint"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/textwrap"
	"github.com/locksim/locksim/reports"
)

// A page writes text for a terminal: paragraphs and labelled texts, indented by two columns and
// broken into lines of at most width columns. err is the first error of a write; after it, nothing
// is written.
type page struct {
	w       io.Writer
	width   int
	palette reports.Palette
	err     error
}

// usualWidth is the maximum number of columns in a line if the terminal's width is not known.
const usualWidth = 80

// print writes text as it is.
func (p *page) print(text string) {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, text)
	}
}

// line writes one line.
func (p *page) line(format string, args ...any) { p.print(fmt.Sprintf(format, args...) + "\n") }

// strong and faint give a text a colour.
func (p *page) strong(text string) string { return paint.Text(p.palette.Strong, text) }
func (p *page) faint(text string) string  { return paint.Text(p.palette.Faint, text) }

// gradeColour returns the colour of a grade.
func (p *page) gradeColour(g Grade) string {
	return map[Grade]string{Right: p.palette.Good, Close: p.palette.Doubt, Wrong: p.palette.Bad}[g]
}

// paragraph writes a paragraph, and an empty line after it. It writes nothing for "".
func (p *page) paragraph(text string) {
	if text = strings.TrimSpace(text); text != "" {
		p.line("  %s\n", wrapFrom(text, p.width, 2))
	}
}

// labelled writes texts in a column beside their labels. A text can have several lines. A line
// with a command stays whole, because people copy it.
func (p *page) labelled(rows [][2]string) {
	labelWidth := 0
	for _, row := range rows {
		labelWidth = max(labelWidth, utf8.RuneCountInString(row[0]))
	}
	indent := labelWidth + 4
	for _, row := range rows {
		label := row[0] + strings.Repeat(" ", labelWidth-utf8.RuneCountInString(row[0]))
		for text := range strings.SplitSeq(row[1], "\n") {
			if !strings.HasPrefix(text, "locksim ") {
				text = wrapFrom(text, p.width, indent)
			}
			p.line("  %s  %s", p.faint(label), text)
			label = strings.Repeat(" ", labelWidth)
		}
	}
}

// choices writes the choices of a question.
func (p *page) choices(choices []Choice) {
	for i, c := range choices {
		p.line("    %s  %s", p.strong(letter(i)), wrapFrom(c.Text, p.width, 7))
	}
	p.line("")
}

// wrapFrom breaks a text into lines that begin in a column, and end before the width. It escapes
// characters that are not printable, because texts of scenarios can contain anything.
func wrapFrom(text string, width, column int) string {
	lines := textwrap.Wrap(story.Visible(textwrap.OneLine(text)), max(width-column, 20), 0)
	return strings.ReplaceAll(lines, "\n", "\n"+strings.Repeat(" ", column))
}
