package reports

import (
	"strings"
	"unicode/utf8"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/locksim/locksim/internal/markdown"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/textwrap"
)

// A piece is a part of a chapter. It can be written in each format of documents.
type piece interface {
	// empty reports whether there is nothing to write. The other methods write the piece
	// for a terminal, in Markdown and for a page.
	empty() bool
	text(t *text)
	markdown(m *markdownText)
	html() g.Node
}

type (
	// A paragraph is prose.
	paragraph string
	// facts are remarks, with the labels and the texts in two columns.
	facts []remark
	// entries are remarks as a list. The texts may be empty.
	entries []remark
	// points are sentences, each with a sign.
	points []point
	// A figure is preformatted text, such as a timeline.
	figure string
	// A listing is lines whose text locksim did not write, such as a stack. Formats that
	// can collapse text collapse it.
	listing struct {
		Title string
		Lines []string
	}
)

// A point is a sentence with its sign. A point without a sign continues the point before
// it.
type point struct {
	Sign badge
	Says string
}

func (p paragraph) empty() bool { return strings.TrimSpace(string(p)) == "" }

func (p paragraph) text(t *text) {
	words := strings.Fields(string(p))
	for i, word := range words {
		words[i] = story.Visible(word)
	}
	t.line("  %s", textwrap.Wrap(strings.Join(words, " "), t.lineWidth()-2, 2))
}

func (p paragraph) markdown(m *markdownText) { m.line("%s", markdown.Escape(string(p))) }

func (p paragraph) html() g.Node { return h.P(g.Text(string(p))) }

func (f facts) empty() bool { return len(f) == 0 }

// text writes the facts in two columns.
func (f facts) text(t *text) {
	width := 0
	for _, r := range f {
		width = max(width, utf8.RuneCountInString(r.About.String()))
	}
	for _, r := range f {
		label := pad(r.About.String(), width)
		body := textwrap.Wrap(r.Text.String(), t.lineWidth()-width-4, 0)
		body = strings.ReplaceAll(body, "\n", "\n"+strings.Repeat(" ", width+4))
		t.line("  %s  %s", t.Palette.strong(label), body)
	}
}

func (f facts) markdown(m *markdownText) {
	for _, r := range f {
		if r.About == "" { // a further text of the same label
			m.line("  - %s", markdown.Escape(string(r.Text)))
			continue
		}
		m.line("- **%s**: %s", markdown.Escape(string(r.About)), markdown.Escape(string(r.Text)))
	}
}

func (f facts) html() g.Node { return h.Dl(h.Class("facts"), g.Map(f, remark.html)) }

// legend returns the facts as the legend of a table.
func (f facts) legend() g.Node { return h.Dl(h.Class("facts legend"), g.Map(f, remark.html)) }

// html returns the remark as an entry of a list.
func (r remark) html() g.Node {
	return g.Group{h.Dt(g.Text(r.About.String())), h.Dd(g.Text(r.Text.String()))}
}

func (e entries) empty() bool { return len(e) == 0 }

// text writes the entries, each with all lines except the first indented.
func (e entries) text(t *text) {
	for _, r := range e {
		name := r.About.String()
		if r.Text == "" {
			t.line("  %s", t.Palette.strong(textwrap.Wrap(name, t.lineWidth()-2, 4)))
			continue
		}
		body := textwrap.Wrap(name+": "+r.Text.String(), t.lineWidth()-2, 4)
		if text, fits := strings.CutPrefix(body, name+":"); fits {
			body = t.Palette.strong(name+":") + text
		}
		t.line("  %s", body)
	}
}

func (e entries) markdown(m *markdownText) {
	for _, r := range e {
		name := "- **" + markdown.Escape(string(r.About)) + "**"
		if r.Text != "" {
			name += ": " + markdown.Escape(string(r.Text))
		}
		m.line("%s", name)
	}
}

func (e entries) html() g.Node { return facts(e).html() }

func (p points) empty() bool { return len(p) == 0 }

func (p points) text(t *text) {
	for _, item := range p {
		sign := " "
		if item.Sign.Sign != "" {
			sign = t.Palette.paint(item.Sign.Class, item.Sign.Sign)
		}
		t.line("  %s %s", sign, textwrap.Wrap(item.Says, t.lineWidth()-4, 4))
	}
}

func (p points) markdown(m *markdownText) {
	for _, item := range p {
		m.line("- %s", item.Sign.span(item.Says).markdown())
	}
}

func (p points) html() g.Node {
	return h.Ul(h.Class("plain"), g.Map(p, func(item point) g.Node {
		return h.Li(h.Span(h.Class(item.Sign.Class), h.Aria("hidden", "true"), g.Text(item.Sign.Sign)), g.Text(" "+item.Says))
	}))
}

func (f figure) empty() bool { return f == "" }

func (f figure) text(t *text) { t.b.WriteString(string(f)) }

func (f figure) markdown(m *markdownText) { m.line("```text\n%s```", string(f)) }

func (f figure) html() g.Node { return preformatted(string(f)) }

func (l listing) empty() bool { return len(l.Lines) == 0 }

func (l listing) text(t *text) {
	if l.Title != "" {
		t.line("  %s", t.Palette.strong(l.Title))
	}
	for _, line := range l.Lines {
		t.line("%s", strings.TrimRight("    "+line, " "))
	}
}

func (l listing) markdown(m *markdownText) {
	m.fold(l.Title, func() { m.line("\n    %s", strings.Join(l.Lines, "\n    ")) })
}

func (l listing) html() g.Node {
	return h.Details(h.Summary(g.Text(l.Title)), preformatted(lines(l.Lines)))
}

// preformatted returns text on a page with its lines as they are. The reader can scroll it.
func preformatted(text string) g.Node { return h.Pre(h.TabIndex("0"), g.Text(text)) }
