package reports

import (
	"fmt"
	"io"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/locksim/locksim/internal/markdown"
	"github.com/locksim/locksim/internal/textwrap"
)

// A document is a report in chapters, independent of its format. It can be written for a
// terminal and in Markdown. Its chapters can be written in HTML.
type document struct {
	title string
	// warning is written at the beginning, and summary at the end.
	warning, summary string
	chapters         []chapter
}

// A chapter is a title with the pieces of text below it. A chapter without a title
// continues the chapter before it.
type chapter struct {
	title string
	// isPart reports whether the chapter is only a heading above the chapters that follow, up
	// to the next part.
	isPart bool
	// isCollapsed reports whether a reader has to open the chapter, in formats that can
	// collapse text.
	isCollapsed bool
	pieces      []piece
}

// add adds a chapter with the pieces that are not empty. If all pieces are empty, it adds no
// chapter.
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

// beginPart adds a heading above the chapters that follow.
func (d *document) beginPart(title string) {
	d.chapters = append(d.chapters, chapter{title: title, isPart: true})
}

// A draft is a report in progress.
type draft struct{ b strings.Builder }

// line adds a line.
func (d *draft) line(format string, args ...any) {
	fmt.Fprintf(&d.b, format+"\n", args...)
}

// gap adds an empty line, except at the beginning.
func (d *draft) gap() {
	if d.b.Len() > 0 {
		d.line("")
	}
}

// A text is a report in progress for a terminal or a pipe.
type text struct {
	Options
	draft
}

// writeTo writes the report to w.
func (t *text) writeTo(w io.Writer) error {
	_, err := io.WriteString(w, DefuseCommands(t.b.String()))
	return err
}

// writeTextDocument writes a report that consists of one document, as text.
func writeTextDocument(w io.Writer, d *document, o Options) error {
	t := &text{Options: o}
	t.document(d)
	return t.writeTo(w)
}

// writeMarkdownDocument writes a report that consists of one document, as Markdown.
func writeMarkdownDocument(w io.Writer, d *document) error {
	m := &markdownText{level: 1}
	m.document(d)
	return m.writeTo(w)
}

// document adds a document.
func (t *text) document(d *document) {
	if d.warning != "" {
		t.line("%s", t.Palette.bad(textwrap.Wrap(d.warning, t.lineWidth(), 2)))
		t.gap()
	}
	if d.title != "" {
		t.line("%s", t.Palette.strong(textwrap.Wrap(d.title, t.lineWidth(), 2)))
	}
	for _, c := range d.chapters {
		switch {
		case c.isPart:
			t.gap()
			t.line("%s", t.Palette.strong("── "+textwrap.Wrap(c.title, t.lineWidth()-3, 3)))
		case c.title != "":
			t.gap()
			t.line("%s", t.Palette.strong(textwrap.Wrap(c.title, t.lineWidth(), 2)))
		}
		if c.isCollapsed && !t.Lists {
			t.line("  %s", textwrap.Wrap("Left out here. The flag --lists shows this list, and so do the other formats.", t.lineWidth()-2, 2))
			continue
		}
		for _, b := range c.pieces {
			t.gap()
			b.text(t)
		}
	}
	if d.summary != "" {
		t.gap()
		t.line("%s", textwrap.Wrap(d.summary, t.lineWidth(), 2))
	}
}

// A markdownText is a document in progress in Markdown. level is the level of the
// document's title. The titles of its chapters are one level below. At level 0, titles are
// bold text, for a document that is put into another document.
type markdownText struct {
	draft
	level int
}

// writeTo writes the document to w.
func (m *markdownText) writeTo(w io.Writer) error {
	_, err := io.WriteString(w, m.b.String())
	return err
}

// heading adds a heading, or bold text at level 0.
func (m *markdownText) heading(level int, title string) {
	m.gap()
	if m.level == 0 {
		m.line("**%s**", markdown.Escape(title))
		return
	}
	m.line("%s %s", strings.Repeat("#", level), markdown.Escape(title))
}

// document adds a document.
func (m *markdownText) document(d *document) {
	if d.title != "" {
		m.heading(m.level, d.title)
	}
	if d.warning != "" {
		m.line("\n**%s**", markdown.Escape(d.warning))
	}
	level := m.level + 1
	for _, c := range d.chapters {
		switch {
		case c.isPart:
			m.heading(m.level+1, c.title)
			level = m.level + 2
		case c.isCollapsed:
			m.gap()
			m.fold("<b>"+c.title+"</b>", func() { m.pieces(c.pieces...) })
			continue
		case c.title != "":
			m.heading(level, c.title)
		}
		m.pieces(c.pieces...)
	}
	if d.summary != "" {
		m.line("\n%s", markdown.Escape(d.summary))
	}
}

// fold adds a collapsed block with the given summary. write adds the content of the block.
func (m *markdownText) fold(summary string, write func()) {
	m.line("<details><summary>%s</summary>", summary)
	write()
	m.line("\n</details>")
}

// pieces adds the pieces that are not empty.
func (m *markdownText) pieces(pieces ...piece) {
	for _, p := range pieces {
		if !p.empty() {
			m.gap()
			p.markdown(m)
		}
	}
}

// html returns the chapters as part of a page.
func (d *document) html() g.Group {
	return g.Map(d.chapters, func(c chapter) g.Node {
		return onLines(g.If(c.title != "", h.H2(g.Text(c.title))), htmlOf(c.pieces...))
	})
}

// htmlOf returns the pieces that are not empty as part of a page.
func htmlOf(pieces ...piece) g.Group {
	return onLines(g.Map(pieces, func(p piece) g.Node { return g.If(!p.empty(), p.html()) })...)
}
