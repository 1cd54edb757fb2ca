package reports

import (
	"cmp"
	"fmt"
	"html/template"
	"io"
	"strings"

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

// A draft is the lines of a report that is being written.
type draft struct{ b strings.Builder }

func (d *draft) line(format string, args ...any) {
	fmt.Fprintf(&d.b, format+"\n", args...)
}

// gap leaves a line empty, but not the first.
func (d *draft) gap() {
	if d.b.Len() > 0 {
		d.line("")
	}
}

// A text is a report that is being written for a terminal or a pipe.
type text struct {
	Options
	draft
	// width is how many columns a line may have; 0 is pageWidth.
	width int
}

func (t *text) columns() int { return cmp.Or(t.width, pageWidth) }

// writeTo writes all of it.
func (t *text) writeTo(w io.Writer) error {
	_, err := io.WriteString(w, NoCommands(t.b.String()))
	return err
}

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
			b.text(t)
		}
	}
	if d.summary != "" {
		t.gap()
		t.line("%s", textwrap.Wrap(d.summary, t.columns(), 2))
	}
}

// A markdownText is a document that is being written in Markdown. Its title is a heading
// of a level, and the titles of its chapters are of the next; those of level 0 are bold,
// for what is put into another document.
type markdownText struct {
	draft
	level int
}

// writeTo writes all of it.
func (m *markdownText) writeTo(w io.Writer) error {
	_, err := io.WriteString(w, m.b.String())
	return err
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
			m.gap()
			m.fold("<b>"+c.title+"</b>", func() { m.pieces(c.pieces...) })
			continue
		case c.title != "":
			m.heading(level, c.title)
		}
		m.pieces(c.pieces...)
	}
	if d.summary != "" {
		m.line("\n%s", markdown(d.summary))
	}
}

// fold folds away what is written meanwhile.
func (m *markdownText) fold(summary string, write func()) {
	m.line("<details><summary>%s</summary>", summary)
	write()
	m.line("\n</details>")
}

func (m *markdownText) pieces(pieces ...piece) {
	for _, p := range pieces {
		if !p.empty() {
			m.gap()
			p.markdown(m)
		}
	}
}

// HTML is the chapter on a page.
func (c chapter) HTML() template.HTML {
	var pieces []template.HTML
	for _, p := range c.pieces {
		pieces = append(pieces, p.html())
	}
	return fill("chapter", struct {
		Title  string
		Pieces []template.HTML
	}{c.title, pieces})
}
