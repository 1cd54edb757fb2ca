package reports

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/locksim/locksim/internal/textwrap"
	"github.com/locksim/locksim/internal/webpage"
)

type (
	// A table has rows of cells below the heads of their columns. The first cell of a row
	// is its label.
	table struct {
		Heads []span
		Rows  []tableRow
		// narrow breaks the heads into short lines, in text. wide begins the table in the first
		// column of the page, for a table that needs the full width. wraps breaks the texts of
		// all cells into lines if the page is too narrow for the table.
		narrow, wide, wraps bool
	}

	// A tableRow is a row of cells, or the title of the rows below it.
	tableRow struct {
		Title string
		Cells []tableCell
		// indented means that the row belongs to a row above it, and ruled that there is a
		// line above the row.
		indented, ruled bool
	}

	// A tableCell is a sequence of spans.
	tableCell []span

	// A span is a text of one or more lines. Tone is a tone of the [Palette]. Link is the
	// file to which the text links in Markdown, or the page to which it links on a site; ""
	// is no link.
	span struct{ Text, Tone, Link string }
)

// heads returns the heads of columns with these names.
func heads(names ...string) []span {
	all := make([]span, len(names))
	for i, name := range names {
		all[i] = span{Text: name, Tone: plain}
	}
	return all
}

// plainCell returns a cell with a line for each text, without a colour.
func plainCell(lines ...string) tableCell { return heads(strings.Join(lines, "\n")) }

// span returns a text in the colour of the badge.
func (b badge) span(text string) span { return span{Text: text, Tone: b.Class} }

// cell returns a cell with the sign and the word of the badge.
func (b badge) cell() tableCell { return tableCell{b.span(b.Text())} }

// signSpan returns the sign of a badge without its word.
func signSpan(b badge) span { return b.span(b.Sign) }

// add adds a row.
func (tb *table) add(cells ...tableCell) { tb.Rows = append(tb.Rows, tableRow{Cells: cells}) }

func (tb table) empty() bool { return len(tb.Rows) == 0 }

func (tb table) text(t *text) { t.b.WriteString(tb.drawInParts(t.lineWidth(), t.Options)) }

// drawInParts returns the table as text. If the table is wider than the given number of
// columns, drawInParts draws several tables, one below the other. Each has the label of
// every row, and some of the other cells.
func (tb table) drawInParts(width int, o Options) string {
	if tb.wraps {
		tb = tb.wrapped(width)
	}
	var drawn []string
	for from := 1; from == 1 || from < len(tb.Heads); {
		to := len(tb.Heads)
		for to > from+1 && tb.part(from, to).width(o) > width {
			to--
		}
		drawn = append(drawn, tb.part(from, to).draw(o))
		from = max(to, 2)
	}
	return strings.Join(drawn, "\n")
}

// part returns the table with the labels and with the columns from index from to index to-1.
func (tb table) part(from, to int) table {
	if from == 1 && to == len(tb.Heads) {
		return tb
	}
	cut := tb
	cut.Heads, cut.Rows = append(slices.Clone(tb.Heads[:1]), tb.Heads[from:to]...), nil
	for _, r := range tb.Rows {
		if len(r.Cells) > 0 {
			r.Cells = append(slices.Clone(r.Cells[:1]), r.Cells[min(from, len(r.Cells)):min(to, len(r.Cells))]...)
		}
		cut.Rows = append(cut.Rows, r)
	}
	return cut
}

// width returns the number of columns of the table as text, without its titles.
func (tb table) width(o Options) int {
	o.Palette = Palette{}
	tb.Rows = slices.DeleteFunc(slices.Clone(tb.Rows), func(r tableRow) bool { return r.Title != "" })
	width := 0
	for line := range strings.Lines(tb.draw(o)) {
		width = max(width, utf8.RuneCountInString(strings.TrimRight(line, "\n")))
	}
	return width
}

// draw returns the table as text.
func (tb table) draw(o Options) string {
	names := make([]string, len(tb.Heads))
	for i, h := range tb.Heads {
		names[i] = h.Text
		if tb.narrow {
			names[i] = narrow(h.Text)
		}
	}
	var rows [][]string
	bodyHeight := 0 // the number of lines below the line under the heads
	for _, r := range tb.Rows {
		if r.Title == "" {
			rows = append(rows, r.painted(o.Palette))
			bodyHeight += height(rows[len(rows)-1])
		}
	}
	columns := o.Columns
	if columns == nil {
		columns = layOutColumns
	}
	lines := slices.Collect(strings.Lines(columns(names, rows)))
	rule := len(lines) - bodyHeight - 1
	if tb.wide {
		for i := range lines {
			lines[i] = strings.TrimPrefix(lines[i], " ")
		}
		lines[rule] = strings.Replace(lines[rule], "─", "", 1) // make the line as wide as the columns
	}
	drawn := slices.Clone(lines[:rule+1])
	next := rule + 1
	for i, r := range tb.Rows {
		if r.Title != "" {
			if i > 0 {
				drawn = append(drawn, "\n")
			}
			drawn = append(drawn, o.Palette.strong(textwrap.Wrap(r.Title, o.lineWidth(), 2))+"\n")
			continue
		}
		if r.ruled {
			drawn = append(drawn, lines[rule])
		}
		n := height(rows[0])
		drawn = append(drawn, lines[next:next+n]...)
		next, rows = next+n, rows[1:]
	}
	return strings.Join(drawn, "")
}

// painted returns the texts of a row's cells, with colours.
func (r tableRow) painted(p Palette) []string {
	cells := make([]string, len(r.Cells))
	for i, cell := range r.Cells {
		if i == 0 && r.indented {
			cells[i] = "  "
		}
		for _, s := range cell {
			cells[i] += s.paint(p)
		}
	}
	return cells
}

// paint gives each line of a span its colour. The lines cannot share one pair of escape
// sequences, because the lines of neighbouring cells come between them.
func (s span) paint(p Palette) string {
	lines := strings.Split(s.Text, "\n")
	for i, line := range lines {
		lines[i] = p.paint(s.Tone, line)
	}
	return strings.Join(lines, "\n")
}

// narrow breaks the head of a column into lines of about ten letters. It breaks between
// words and after hyphens.
func narrow(head string) string {
	const maxWidth = 10
	var lines []string
	for _, word := range strings.Fields(strings.ReplaceAll(head, "-", "- ")) {
		last := len(lines) - 1
		separator := " "
		if last >= 0 && strings.HasSuffix(lines[last], "-") {
			separator = ""
		}
		if last >= 0 && len(lines[last])+len(separator)+len(word) <= maxWidth && !strings.HasSuffix(lines[last], ":") {
			lines[last] += separator + word
			continue
		}
		lines = append(lines, word)
	}
	return strings.Join(lines, "\n")
}

func (tb table) markdown(m *markdownText) {
	row := func(r tableRow) {
		line := "|"
		for i, cell := range r.Cells {
			text := ""
			for _, s := range cell {
				text += s.markdown()
			}
			if i == 0 && r.indented {
				text = "&emsp;" + text
			}
			if text != "" {
				text = " " + text
			}
			line += text + " |"
		}
		m.line("%s", line)
	}
	head := tableRow{}
	for _, h := range tb.Heads {
		head.Cells = append(head.Cells, tableCell{h})
	}
	row(head)
	m.line("|%s", strings.Repeat("---|", len(tb.Heads)))
	for _, r := range tb.Rows {
		if r.Title != "" {
			r.Cells = make([]tableCell, len(tb.Heads))
			r.Cells[0] = tableCell{{Text: r.Title, Tone: strong}}
		}
		row(r)
	}
}

// markdown returns a span in Markdown. Spans whose tone is bad or strong become bold.
func (s span) markdown() string {
	lines := strings.Split(s.Text, "\n")
	for i, line := range lines {
		text := strings.TrimSpace(line)
		start := strings.Index(line, text)
		lines[i] = line[:start] + link(text, s.Link) + line[start+len(text):]
	}
	text := strings.Join(lines, "<br>")
	if s.Tone == "bad" || s.Tone == strong {
		return "**" + text + "**"
	}
	return text
}

func (tb table) html() g.Node {
	return h.Table(h.Class("tally"), onLines(
		h.THead(h.Tr(g.Map(tb.Heads, func(s span) g.Node { return columnHead(g.Text(s.Text)) }))),
		h.TBody(onLines(g.Map(tb.Rows, tb.rowHTML)...)),
	))
}

// rowHTML returns a row of the table on a page.
func (tb table) rowHTML(r tableRow) g.Node {
	if r.Title != "" {
		return h.Tr(h.Th(h.Scope("rowgroup"), h.ColSpan(strconv.Itoa(len(tb.Heads))), g.Text(r.Title)))
	}
	label := g.Map(r.Cells[0], func(s span) g.Node { return g.Text(s.Text) })
	row := g.Group{rowHead(label)}
	for i, cell := range r.Cells[1:] {
		row = append(row, h.Td(g.Map(cell, func(s span) g.Node {
			if s.Link == "" {
				return h.Span(h.Class(s.Tone), g.Text(s.Text))
			}
			// Screen readers read a link without the heads, so the link has them.
			heads := unseen(r.Cells[0][0].Text + ", " + tb.Heads[i+1].Text + ": ")
			return h.A(h.Class(s.Tone), webpage.Href(s.Link), heads, g.Text(s.Text))
		})))
	}
	return h.Tr(row)
}
