package reports

import (
	"io"
	"strings"
	"unicode/utf8"

	"github.com/locksim/locksim/checks"
)

// writeMatrixText writes the matrix for a terminal. A matrix that does not fit on a screen
// begins with the number of results of each kind, and with the legend.
func writeMatrixText(w io.Writer, m *Matrix, o Options) error {
	t := &text{Options: o}
	words := m.textSpelling()
	drawn := m.wideTable(words)
	if len(m.Locks) == 0 && drawn.width(o) > o.lineWidth() {
		words.verdict = verdictMark
		words.useMarks()
		drawn = m.wideTable(words)
	}
	matrix := figure(drawn.drawInParts(o.lineWidth(), o))
	if len(m.Locks) == 0 && drawn.width(o) <= o.lineWidth() {
		matrix = pairHeads(drawn.Heads, string(matrix)) + matrix
	}
	if !m.isLong() {
		t.document(m.document(matrix, m.legend(words)))
		return t.writeTo(w)
	}
	d := &document{}
	d.add("", m.size(), m.counts(), m.legend(words), matrix)
	m.addLists(d)
	t.document(d)
	return t.writeTo(w)
}

// wideTable returns the matrix as a table that begins in the first column of the page.
func (m *Matrix) wideTable(w spelling) table {
	drawn := m.table(w)
	drawn.wide = true
	return drawn
}

// textSpelling returns the spelling for terminals. It uses signs and letters, because there
// is less room.
func (m *Matrix) textSpelling() spelling {
	w := spellingInFull()
	w.exclusion = func(p checks.Property) string { return p.Card().Column }
	w.about, w.runs = describeProperty, [2]string{"without", "with"}
	w.verdict, w.mark, w.arrow = verdictSign, verdictMark, "→"
	w.caveat = func(p checks.Property) string { return "! safe " + letters([]checks.Property{p}) }
	if len(m.Locks) > 0 {
		w.useMarks()
		w.pairs = facts{
			{"then a→b", "the data in the run in which the storage checks no fencing tokens, then in the same run if it does; one sign if both are the same"},
			{"nodes", "each scenario keeps its own number of nodes: on the one node of most single-instance scenarios Redlock is no better than any other lock"},
		}
	}
	return w
}

// useMarks explains verdicts by their signs, without words.
func (w *spelling) useMarks() {
	w.unsafe, w.safe, w.unknown = "✗ data", "✓ data", "?"
	w.caveat = func(p checks.Property) string { return "!" + letters([]checks.Property{p}) + " data" }
}

// pairHeads returns a line above the heads of the columns. It has a common head for the two
// exclusion properties, which are mutual exclusion of leases and of critical sections, and one for
// the two verdicts. drawn is the table, and heads are the heads of its columns.
func pairHeads(heads []span, drawn string) figure {
	line, _, _ := strings.Cut(drawn, "\n")
	heading := strings.Repeat(" ", column(line, heads[2].Text)) + "exclusion"
	heading += strings.Repeat(" ", column(line, "without")-utf8.RuneCountInString(heading)) + "fencing tokens"
	return figure(heading + "\n")
}

// column returns the column at which a word begins in a line.
func column(line, word string) int {
	before, _, _ := strings.Cut(line, word)
	return utf8.RuneCountInString(before)
}

// verdictSign returns a verdict with its sign, and the letters of its caveats: "✗ unsafe",
// "✓ safe", "! safe p", "? unknown".
func verdictSign(c Cell, run int) span {
	if !c.hasRuns() {
		b := verdictBadges[checks.Undecided]
		return b.span(b.Text())
	}
	b := runBadge(c.Runs[run])
	return b.span(strings.TrimSpace(b.Text() + " " + letters(c.Runs[run].Verdict.Caveats())))
}

// verdictMark returns the sign of a verdict, and the letters of its caveats: "✗", "✓",
// "!p".
func verdictMark(c Cell, run int) span {
	if !c.hasRuns() {
		b := verdictBadges[checks.Undecided]
		return b.span(b.Sign)
	}
	b := runBadge(c.Runs[run])
	return b.span(b.Sign + letters(c.Runs[run].Verdict.Caveats()))
}

// pad appends blanks to a text up to a width.
func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}
