package reports

import (
	"fmt"
	"strings"

	"github.com/locksim/locksim/reports/textwrap"
)

// A document is a text in chapters that can be written in more than one way.
type document struct {
	title    string
	chapters []chapter
}

// A chapter has any of its parts, which follow each other in this order. One
// that has none is left out.
type chapter struct {
	title string
	// part says that the chapters that follow, up to the next part, belong to it.
	part bool
	text string
	rows []remark
	// figure is text whose lines stay as they are.
	figure string
	// after are rows below the figure.
	after []remark
}

func (c chapter) empty() bool {
	return !c.part && strings.TrimSpace(c.text) == "" && len(c.rows) == 0 && c.figure == "" && len(c.after) == 0
}

func (d *document) add(c chapter) {
	if !c.empty() {
		d.chapters = append(d.chapters, c)
	}
}

// writeText writes the document for a terminal or a pipe.
func (d *document) writeText(t *text) {
	t.line("%s", t.Palette.strong(textwrap.Wrap(d.title, pageWidth, 2)))
	for _, c := range d.chapters {
		t.line("")
		if c.part {
			t.line("%s", t.Palette.strong("── "+textwrap.Wrap(c.title, pageWidth-3, 3)))
			continue
		}
		t.line("%s", t.Palette.strong(c.title))
		t.paragraph(c.text)
		if len(c.rows) > 0 {
			t.line("")
			t.remarks(c.rows)
		}
		if c.figure != "" {
			t.line("")
			t.b.WriteString(c.figure)
		}
		if len(c.after) > 0 {
			t.line("")
			t.remarks(c.after)
		}
	}
}

// writeMarkdown writes the document in Markdown.
func (d *document) writeMarkdown(b *strings.Builder) {
	fmt.Fprintf(b, "# %s\n", markdown(d.title))
	level := "##"
	for _, c := range d.chapters {
		if c.part {
			fmt.Fprintf(b, "\n## %s\n", markdown(c.title))
			level = "###"
			continue
		}
		fmt.Fprintf(b, "\n%s %s\n", level, markdown(c.title))
		if text := markdown(c.text); text != "" {
			fmt.Fprintf(b, "\n%s\n", text)
		}
		markdownRows(b, c.rows)
		if c.figure != "" {
			fmt.Fprintf(b, "\n```text\n%s```\n", c.figure)
		}
		markdownRows(b, c.after)
	}
}

func markdownRows(b *strings.Builder, rows []remark) {
	if len(rows) > 0 {
		b.WriteString("\n")
	}
	for _, r := range rows {
		if r.about == "" { // as the row before
			fmt.Fprintf(b, "  - %s\n", markdown(string(r.text)))
			continue
		}
		fmt.Fprintf(b, "- **%s**: %s\n", markdown(string(r.about)), markdown(string(r.text)))
	}
}
