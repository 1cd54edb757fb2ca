package reports

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/textwrap"
)

// A document is a text in chapters that can be written in more than one way: for a
// terminal, in Markdown and, chapter by chapter, on a page.
type document struct {
	title string
	// warning is what nobody may overlook, and summary what it all comes to.
	warning, summary string
	chapters         []chapter
}

// A chapter is what stands below a title; without a title it goes on with what stands
// above it.
type chapter struct {
	title string
	// part says that the chapters that follow, up to the next part, belong to it.
	part bool
	// folds says that it is folded away where that can be.
	folds  bool
	pieces []piece
}

// A piece is a part of a chapter that every document writes in its own way.
type piece interface{ empty() bool }

type (
	// A paragraph is prose.
	paragraph string
	// facts are labels, each with what there is to say of it.
	facts []remark
	// entries are names, each with what there is to say of it, which may be nothing.
	entries []remark
	// points are sentences, each with a sign that says how to take it.
	points []point
	// A figure is text whose lines stay as they are.
	figure string
	// A listing is lines of somebody else's, folded away where that can be.
	listing struct {
		title string
		lines []string
	}
	// cells are a table in Markdown, whose cells are written already.
	cells struct {
		header []string
		rows   [][]string
	}
)

// A point is a sentence with its sign.
type point struct {
	Sign badge
	Says string
}

func (p paragraph) empty() bool { return strings.TrimSpace(string(p)) == "" }
func (f facts) empty() bool     { return len(f) == 0 }
func (e entries) empty() bool   { return len(e) == 0 }
func (p points) empty() bool    { return len(p) == 0 }
func (f figure) empty() bool    { return f == "" }
func (l listing) empty() bool   { return len(l.lines) == 0 }
func (c cells) empty() bool     { return false }

// add adds a chapter with what is not empty of some pieces, if there is any.
func (d *document) add(title string, pieces ...piece) {
	c := chapter{title: title}
	for _, b := range pieces {
		if !b.empty() {
			c.pieces = append(c.pieces, b)
		}
	}
	if len(c.pieces) > 0 {
		d.chapters = append(d.chapters, c)
	}
}

// begin begins a part.
func (d *document) begin(title string) {
	d.chapters = append(d.chapters, chapter{title: title, part: true})
}

// document writes a document for a terminal or a pipe.
func (t *text) document(d *document) {
	if d.warning != "" {
		t.line("%s", t.Palette.bad(textwrap.Wrap(d.warning, t.columns(), 2)))
		t.gap()
	}
	if d.title != "" {
		t.line("%s", t.Palette.strong(textwrap.Wrap(d.title, t.columns(), 2)))
	}
	for _, c := range d.chapters {
		switch {
		case c.part:
			t.gap()
			t.line("%s", t.Palette.strong("── "+textwrap.Wrap(c.title, t.columns()-3, 3)))
		case c.title != "":
			t.gap()
			t.line("%s", t.Palette.strong(textwrap.Wrap(c.title, t.columns(), 2)))
		}
		for _, b := range c.pieces {
			t.gap()
			t.piece(b)
		}
	}
	if d.summary != "" {
		t.gap()
		t.line("%s", textwrap.Wrap(d.summary, t.columns(), 2))
	}
}

// gap leaves a line empty, but not the first.
func (t *text) gap() {
	if t.b.Len() > 0 {
		t.line("")
	}
}

// entry writes a name and what there is to say of it as a paragraph of which all lines but
// the first are indented.
func (t *text) entry(e remark) {
	name := e.About.String()
	if e.Text == "" {
		t.line("  %s", t.Palette.strong(name))
		return
	}
	body := textwrap.Wrap(name+": "+e.Text.String(), t.columns()-2, 4)
	t.line("  %s%s", t.Palette.strong(name+":"), strings.TrimPrefix(body, name+":"))
}

func (t *text) piece(b piece) {
	switch b := b.(type) {
	case paragraph:
		words := strings.Fields(string(b))
		for i, word := range words {
			words[i] = story.Visible(word)
		}
		t.line("  %s", textwrap.Wrap(strings.Join(words, " "), t.columns()-2, 2))
	case facts:
		t.remarks(b)
	case entries:
		for _, e := range b {
			t.entry(e)
		}
	case points:
		for _, p := range b {
			sign := " " // of a sentence that goes on with the one before
			if p.Sign.Sign != "" {
				sign = p.Sign.paint(p.Sign.Sign, t.Palette)
			}
			t.line("  %s %s", sign, textwrap.Wrap(p.Says, t.columns()-4, 4))
		}
	case figure:
		t.b.WriteString(string(b))
	case listing:
		for _, line := range b.lines {
			t.line("%s", strings.TrimRight("    "+line, " "))
		}
	default:
		panic(fmt.Sprintf("reports: no text has %T", b)) // documents for text are made without
	}
}

// A markdownText is a document that is being written in Markdown. Its title is a heading
// of a level, and the titles of its chapters are of the next; those of level 0 are bold,
// for what is put into another document.
type markdownText struct {
	b     strings.Builder
	level int
}

func (m *markdownText) line(format string, args ...any) {
	fmt.Fprintf(&m.b, format+"\n", args...)
}

// gap leaves a line empty, but not the first.
func (m *markdownText) gap() {
	if m.b.Len() > 0 {
		m.line("")
	}
}

func (m *markdownText) heading(level int, title string) {
	m.gap()
	if m.level == 0 {
		m.line("**%s**", markdown(title))
		return
	}
	m.line("%s %s", strings.Repeat("#", level), markdown(title))
}

func (m *markdownText) document(d *document) {
	if d.title != "" {
		m.heading(m.level, d.title)
	}
	if d.warning != "" {
		m.line("\n**%s**", markdown(d.warning))
	}
	level := m.level + 1
	for _, c := range d.chapters {
		switch {
		case c.part:
			m.heading(m.level+1, c.title)
			level = m.level + 2
		case c.folds:
			m.fold("<b>"+c.title+"</b>", func() { m.pieces(c.pieces) })
			continue
		case c.title != "":
			m.heading(level, c.title)
		}
		m.pieces(c.pieces)
	}
	if d.summary != "" {
		m.line("\n%s", markdown(d.summary))
	}
}

// fold folds away what is written meanwhile.
func (m *markdownText) fold(summary string, write func()) {
	m.gap()
	m.line("<details><summary>%s</summary>", summary)
	write()
	m.line("\n</details>")
}

func (m *markdownText) pieces(pieces []piece) {
	for _, b := range pieces {
		if b.empty() {
			continue
		}
		if l, ok := b.(listing); ok {
			m.fold(l.title, func() { m.line("\n    %s", strings.Join(l.lines, "\n    ")) })
			continue
		}
		m.gap()
		m.piece(b)
	}
}

func (m *markdownText) piece(b piece) {
	switch b := b.(type) {
	case paragraph:
		m.line("%s", markdown(string(b)))
	case facts:
		m.facts(b)
	case entries:
		for _, e := range b {
			if e.Text == "" {
				m.line("- **%s**", markdown(string(e.About)))
				continue
			}
			m.line("- **%s**: %s", markdown(string(e.About)), markdown(string(e.Text)))
		}
	case points:
		for _, p := range b {
			says := markdown(p.Says)
			if p.Sign.Class == "bad" {
				says = "**" + says + "**"
			}
			m.line("- %s", says)
		}
	case figure:
		m.line("```text\n%s```", string(b))
	case cells:
		m.row(b.header)
		m.line("|%s", strings.Repeat("---|", len(b.header)))
		for _, row := range b.rows {
			m.row(row)
		}
	default:
		panic(fmt.Sprintf("reports: no Markdown has %T", b)) // documents for Markdown are made without
	}
}

// row writes a line of a table.
func (m *markdownText) row(cells []string) {
	line := "|"
	for _, cell := range cells {
		if cell != "" {
			cell = " " + cell
		}
		line += cell + " |"
	}
	m.line("%s", line)
}

func (m *markdownText) facts(rows facts) {
	for _, r := range rows {
		if r.About == "" { // as the row before
			m.line("  - %s", markdown(string(r.Text)))
			continue
		}
		m.line("- **%s**: %s", markdown(string(r.About)), markdown(string(r.Text)))
	}
}

// HTML is the chapter on a page.
func (c chapter) HTML() template.HTML {
	var pieces []template.HTML
	for _, b := range c.pieces {
		switch b := b.(type) {
		case paragraph:
			pieces = append(pieces, fill("paragraph", b))
		case facts:
			pieces = append(pieces, fill("facts", b))
		case points:
			pieces = append(pieces, fill("points", b))
		default:
			panic(fmt.Sprintf("reports: no page has %T", b)) // documents for pages are made without
		}
	}
	return fill("chapter", struct {
		Title  string
		Pieces []template.HTML
	}{c.title, pieces})
}
