package chapters

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locksim/locksim/internal/paint"
	"github.com/locksim/locksim/internal/repository"
	"github.com/locksim/locksim/internal/textwrap"
	"github.com/locksim/locksim/reports"
)

// usualWidth is how many columns a line can have if the width of the terminal is not known.
// mostWidth is how many it can have on any terminal, because longer lines are hard to read.
const usualWidth, mostWidth = 80, 100

// Write writes the chapter for a terminal of this many columns; 0 means that the width is not known.
func (c *Chapter) Write(w io.Writer, width int, palette reports.Palette) error {
	t := terminal{width: min(cmp.Or(width, usualWidth), mostWidth), palette: palette}
	for i, b := range parseBlocks(c.Markdown) {
		if isNavigation(b) {
			continue
		}
		if b.kind != code {
			b.text = t.number(b.text)
		}
		if i > 0 && !(b.kind == item && t.last == item) {
			t.b.WriteString("\n")
		}
		t.write(b)
		t.last = b.kind
	}
	t.writeLinks()
	_, err := io.WriteString(w, t.b.String())
	return err
}

// isNavigation reports whether a block only links to other chapters. Such a block is left
// out, because a terminal cannot follow the links.
func isNavigation(b block) bool { return strings.HasPrefix(b.text, "[All chapters](") }

// A terminal lays out blocks for a terminal.
type terminal struct {
	b       strings.Builder
	width   int
	palette reports.Palette
	last    blockKind
	// links are the links that are listed at the end of the chapter, in the order of their
	// numbers.
	links []link
}

// A link is a link to a page that the command does not show.
type link struct{ name, target string }

func (t *terminal) write(b block) {
	switch b.kind {
	case heading:
		title := textwrap.Wrap(plain(b.text), t.width, 0)
		line := "─"
		if b.level == 1 {
			line = "═"
		}
		longest := 0
		for part := range strings.SplitSeq(title, "\n") {
			longest = max(longest, utf8.RuneCountInString(part))
		}
		t.line("%s\n%s", t.strong(title), paint.Text(t.palette.Faint, strings.Repeat(line, longest)))
	case paragraph:
		t.line("%s", wrap(b.text, t.width, t.palette.Strong))
	case item:
		indent := strings.Repeat(" ", len(b.sign)+3)
		text := wrap(b.text, t.width-len(indent), t.palette.Strong)
		t.line("  %s %s", b.sign, strings.ReplaceAll(text, "\n", "\n"+indent))
	case code:
		t.writeCode(b)
	case table:
		t.writeTable(b)
	}
}

func (t *terminal) line(format string, args ...any) { fmt.Fprintf(&t.b, format+"\n", args...) }

func (t *terminal) strong(text string) string { return paint.Text(t.palette.Strong, text) }

// writeCode writes code without breaking its lines, because people copy it. It indents code, but
// not commands and their output.
func (t *terminal) writeCode(b block) {
	for line := range strings.SplitSeq(b.text, "\n") {
		command, isCommand := strings.CutPrefix(line, "$ ")
		switch line = strings.ReplaceAll(line, "\t", "    "); {
		case isCommand:
			t.line("$ %s", t.strong(command))
		case b.language == "text" || line == "":
			t.line("%s", line)
		default:
			t.line("    %s", line)
		}
	}
}

// writeTable writes a table in columns. It wraps cells if the table would be too wide. If not even
// that helps, it writes each row as a list.
func (t *terminal) writeTable(b block) {
	var rows [][]string
	for i, line := range strings.Split(strings.TrimSuffix(b.text, "\n"), "\n") {
		if i != 1 { // the line below the heads
			rows = append(rows, cellsOf(line))
		}
	}
	widths, fits := columnWidths(rows, t.width)
	if !fits {
		t.writeRecords(rows)
		return
	}
	for n, row := range rows {
		t.writeRow(row, widths)
		if n == 0 {
			total := 2 * (len(widths) - 1)
			for _, w := range widths {
				total += w
			}
			t.line("  %s", paint.Text(t.palette.Faint, strings.Repeat("─", total)))
		}
	}
}

// columnWidths returns widths for the columns of a table, so that the table, with two spaces before
// each column, is at most width columns wide. No column gets narrower than its longest word. fits
// is false if the table is too wide even so.
func columnWidths(rows [][]string, width int) (widths []int, fits bool) {
	widths = make([]int, len(rows[0]))
	least := make([]int, len(widths))
	total := 2 * len(widths)
	for i := range widths {
		for _, row := range rows {
			if i >= len(row) {
				continue
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(plain(row[i])))
			for word := range strings.FieldsSeq(plain(row[i])) {
				least[i] = max(least[i], utf8.RuneCountInString(word))
			}
		}
		total += widths[i]
	}
	for ; total > width; total-- {
		widest := -1 // of the columns that can be narrower
		for i := range widths {
			if widths[i] > least[i] && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return nil, false
		}
		widths[widest]--
	}
	return widths, true
}

// writeRecords writes each row of a table as its first cell, and below it the other cells with
// their heads.
func (t *terminal) writeRecords(rows [][]string) {
	heads := rows[0]
	longest := 0
	for _, head := range heads[1:] {
		longest = max(longest, utf8.RuneCountInString(plain(head)))
	}
	indent := strings.Repeat(" ", longest+6)
	for _, row := range rows[1:] {
		t.line("  %s", t.strong(plain(row[0])))
		for i, cell := range row[1:] {
			if cell == "" {
				continue
			}
			head := plain(heads[i+1])
			head += strings.Repeat(" ", longest-utf8.RuneCountInString(head))
			text := textwrap.Wrap(plain(cell), max(t.width-len(indent), len(indent)), 0)
			t.line("    %s  %s", head, strings.ReplaceAll(text, "\n", "\n"+indent))
		}
	}
}

// writeRow writes the cells of a row side by side, on as many lines as they need.
func (t *terminal) writeRow(row []string, widths []int) {
	var cells [][]string // the lines of each cell, without colour
	height := 0
	for i := range row {
		cells = append(cells, strings.Split(textwrap.Wrap(plain(row[i]), widths[i], 0), "\n"))
		height = max(height, len(cells[i]))
	}
	for n := range height {
		line := ""
		for i, lines := range cells {
			part := ""
			if n < len(lines) {
				part = lines[n]
			}
			line += "  " + part + strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(part)))
		}
		t.line("%s", strings.TrimRight(line, " "))
	}
}

// number replaces each link of a text by its name and a number. The end of the chapter lists the
// address for each number. A link to another chapter, to the glossary or to a scenario gets no
// number, because commands of locksim show these.
func (t *terminal) number(text string) string {
	return linkPattern().ReplaceAllStringFunc(text, func(written string) string {
		m := linkPattern().FindStringSubmatch(written)
		name, target := m[1], m[2]
		if page, isOurs := strings.CutPrefix(target, "../"); isOurs {
			if strings.HasPrefix(page, "../") {
				return name
			}
			target = repository.Document(page)
		}
		if !strings.Contains(target, "/") || strings.HasPrefix(target, repository.Document("glossary.md")) {
			return name
		}
		i := slices.IndexFunc(t.links, func(l link) bool { return l.target == target })
		if i < 0 {
			i = len(t.links)
			t.links = append(t.links, link{plain(textwrap.OneLine(name)), target})
		}
		return fmt.Sprintf("%s [%d]", name, i+1)
	})
}

// writeLinks lists the links.
func (t *terminal) writeLinks() {
	if len(t.links) == 0 {
		return
	}
	t.line("\n%s", paint.Text(t.palette.Faint, "Links"))
	for i, l := range t.links {
		t.line("  [%d] %s\n      %s", i+1, l.name, l.target)
	}
}
