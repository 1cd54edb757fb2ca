package reports

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locksim/locksim/internal/textwrap"
)

// wrapped returns the table with the texts of its heads and cells broken into lines, so
// that the table has at most the given number of columns, and few lines. If the longest
// words do not fit, the table is wider.
func (tb table) wrapped(width int) table {
	widths, least := make([]int, len(tb.Heads)), make([]int, len(tb.Heads))
	measure := func(i int, text string) {
		widths[i] = max(widths[i], utf8.RuneCountInString(text))
		for _, word := range strings.Fields(text) {
			least[i] = max(least[i], utf8.RuneCountInString(word))
		}
	}
	for i, h := range tb.Heads {
		measure(i, h.Text)
	}
	for _, r := range tb.Rows {
		for i, cell := range r.Cells {
			for _, s := range cell {
				measure(i, s.Text)
			}
		}
	}
	for total := 1 + 2*len(widths) + sum(widths); total > width; total-- {
		next, fewest := -1, 0
		for i := range widths {
			if widths[i] == least[i] {
				continue
			}
			widths[i]--
			lines := tb.wrappedTo(widths).lines()
			widths[i]++
			if next < 0 || lines < fewest || lines == fewest && widths[i] > widths[next] {
				next, fewest = i, lines
			}
		}
		if next < 0 {
			break
		}
		widths[next]--
	}
	return tb.wrappedTo(widths)
}

// wrappedTo returns the table with each column wrapped to its width.
func (tb table) wrappedTo(widths []int) table {
	out := tb
	out.Heads, out.Rows = wrapSpans(tb.Heads, widths), nil
	for _, r := range tb.Rows {
		r.Cells = slices.Clone(r.Cells)
		for i, cell := range r.Cells {
			r.Cells[i] = wrapSpans(cell, slices.Repeat(widths[i:i+1], len(cell)))
		}
		out.Rows = append(out.Rows, r)
	}
	return out
}

// lines returns the number of lines of the heads and the cells.
func (tb table) lines() int {
	count := func(cells ...tableCell) int {
		lines := 0
		for _, cell := range cells {
			for _, s := range cell {
				lines = max(lines, 1+strings.Count(s.Text, "\n"))
			}
		}
		return lines
	}
	total := count(tb.Heads)
	for _, r := range tb.Rows {
		total += count(r.Cells...)
	}
	return total
}

// wrapSpans returns the spans with each text broken into lines of at most its width.
func wrapSpans(spans []span, widths []int) []span {
	all := slices.Clone(spans)
	for i := range all {
		all[i].Text = textwrap.Wrap(all[i].Text, widths[i], 0)
	}
	return all
}

func sum(numbers []int) int {
	total := 0
	for _, n := range numbers {
		total += n
	}
	return total
}
