package diagram

import (
	_ "embed"
	"fmt"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/svg"
)

// The style sheets of figures, and the hatch patterns. The colours are apart, because a
// self-contained picture has their values in the rules themselves.
var (
	//go:embed diagram-colours.css
	colours string
	//go:embed diagram.css
	rules string
	//go:embed patterns.svg
	patterns string
)

// Style returns the style sheet for the figures of a page. It uses these colours of the
// page: ink and soft for text, page for the background, and focus.
func Style() string { return colours + rules }

// Patterns returns the hatch patterns that figures refer to. A page must contain them once.
func Patterns() g.Node {
	return h.SVG(svg.Namespace(), svg.Size(0, 0), h.Class("defs"), h.Aria("hidden", "true"), g.Attr("focusable", "false"), g.Raw(patterns))
}

// SVG draws the figure, for a page that has the [Style] and the [Patterns]. Names and texts
// have passed through [story.Visible] before, so that the name of a lock cannot contain
// invisible characters that change the direction of writing.
func (f Figure) SVG() g.Node {
	return h.SVG(
		svg.Namespace(), h.Class("diagram"), svg.ViewBox(f.Width, f.Height), svg.Size(f.Width, f.Height), h.Role("group"), h.Aria("label", f.Desc),
		svg.Paper(f.Width, f.Height),
		svg.Lines(f.Lanes, f.drawLane),
		svg.Lines(f.Folds, f.drawFold),
		svg.Lines(f.Ticks, func(t figureText) g.Node { return svg.Centred("tick", t.X, t.Y, t.Text) }),
		svg.Rect("cursor", f.Left, f.Top, 2, f.Height),
		svg.Lines(f.Overlaps, figureOverlap.draw),
		svg.Lines(f.Bands, func(b figureBar) g.Node { return b.draw("band", 4, b.Y+b.H-3, data("process", b.Process)) }),
		svg.Lines(f.Keys, func(b figureBar) g.Node {
			return b.draw("key-bar", 4, b.TextY(), data("process", b.Process), data("client", b.Client))
		}),
		svg.Lines(f.Attempts, func(b figureBar) g.Node { return b.draw("attempt", 0, 0, data("client", b.Process)) }),
		svg.Lines(f.Leases, func(b figureBar) g.Node { return b.draw("lease-bar", 4, b.TextY()-1, data("client", b.Client)) }),
		svg.Lines(f.Sections, func(b figureBar) g.Node { return b.draw("section-bar", 5, b.TextY(), data("client", b.Process)) }),
		svg.Lines(f.Extensions, func(t figureTick) g.Node {
			return svg.Path("extension", fmt.Sprintf("M%d %dv%d", t.X, t.Y, t.H), svg.Title(t.Title))
		}),
		svg.Lines(f.Messages, func(m figureArrow) g.Node {
			return svg.Group("message "+m.Class, svg.Number("data-s", m.First), svg.Number("data-d", m.Last), title(m.Title), svg.Path("", m.Path))
		}),
		svg.Lines(f.Clocks, func(c figureText) g.Node { return svg.Group("clock", title(c.Title), svg.Text("", c.X, c.Y, c.Text)) }),
		svg.Lines(f.Decisions, figurePill.draw),
		svg.Lines(f.Poles, figurePole.draw),
		svg.Lines(f.Pennants, figurePennant.draw),
		f.drawLabels(),
	)
}

// title returns the title of an element.
func title(text story.Raw) g.Node { return svg.Title(text.String()) }

// data returns an attribute for the script of a page.
func data(name, value string) g.Node { return g.Attr("data-"+name, value) }

// drawLane draws the background of a lane, and its line.
func (f Figure) drawLane(l figureLane) g.Node {
	return svg.Group("lane "+string(l.Role), data("process", l.Name),
		svg.Rect("", 0, l.Y+1, f.Width, l.H-2),
		svg.Path("line", fmt.Sprintf("M%d %dH%d", f.Left, l.Base, f.Width)))
}

// drawFold draws a fold across all lanes, with its length above them.
func (f Figure) drawFold(fold figureFold) g.Node {
	return svg.Group("fold",
		svg.Rect("", fold.X, f.Top, fold.W, f.Height),
		svg.Path("", fmt.Sprintf("M%d %dh%d", fold.X, f.Top-20, fold.W)),
		svg.Centred("", fold.Middle(), f.Top-24, fold.Label))
}

// drawLabels draws the names of the lanes, which cover what is to the left of the axis.
func (f Figure) drawLabels() g.Node {
	return svg.Group("labels",
		svg.Rect("paper", 0, 0, f.Left, f.Height),
		svg.Lines(f.Lanes, figureLane.drawLabel),
		svg.Text("tick", 6, f.Top-6, "not to scale"),
		svg.Path("edge", fmt.Sprintf("M%d %dV%d", f.Left, f.Top, f.Height)))
}

// drawLabel draws the name of the lane. That of a client has the client's colour beside it.
func (l figureLane) drawLabel() g.Node {
	if l.Class == "" {
		return svg.Group("label ", svg.Title(l.Name), svg.Text("", 6, l.Middle()+4, l.Short))
	}
	return svg.Group("label "+l.Class, svg.Title(l.Name),
		svg.Rect("", 6, l.Middle()-6, 10, 12, svg.Number("rx", 2)),
		svg.Text("", 22, l.Middle()+4, l.Short))
}

// draw draws the bar. kind is its CSS class, and more are further attributes. The label
// begins inset pixels to the right of the bar's left end, and y is its baseline.
func (b figureBar) draw(kind string, inset, y int, more ...g.Node) g.Node {
	return svg.Group(kind+" "+b.Class, g.Group(more), title(b.Title),
		svg.Rect("", b.X, b.Y, b.W, b.H),
		g.If(b.Label != "", svg.Text("", b.X+inset, y, b.Label)))
}

// draw draws the overlap.
func (o figureOverlap) draw() g.Node {
	return svg.Group("overlap", title(o.Title),
		svg.Rect("", o.X, o.Y, o.W, o.H),
		svg.Rect("both", o.X, o.First.Y+1, o.W, o.First.H-2),
		svg.Rect("both", o.X, o.Second.Y+1, o.W, o.Second.H-2),
		g.If(o.Label != "", svg.Text("", o.X+4, o.Y+o.H-4, o.Label)))
}

// draw draws the pill.
func (p figurePill) draw() g.Node {
	corner := svg.Number("rx", p.Corner)
	return svg.Group("decision "+p.Class,
		g.If(p.Seq != 0, g.Group{svg.Number("data-x", p.X), svg.Number("data-s", p.Seq)}),
		g.If(p.Title != "", title(p.Title)),
		svg.Rect("", p.Left(), p.Y, p.W, pillHeight, corner),
		g.If(p.Filled, svg.Rect("filled", p.Left(), p.Y, p.W, pillHeight, corner)),
		svg.Centred("", p.X, p.Y+14, p.Label),
		g.If(p.Struck, svg.Path("strike", fmt.Sprintf("M%d %dL%d %d", p.Left(), p.Y+pillHeight, p.Left()+p.W, p.Y))),
		g.If(p.Below != "", svg.Centred("below", p.X, p.Y+33, p.Below)))
}

// draw draws the piece of a pole.
func (p figurePole) draw() g.Node {
	return svg.Path("pole "+p.Class, fmt.Sprintf("M%d %dV%d", p.X, p.From, p.To))
}

// draw draws the pennant.
func (p figurePennant) draw() g.Node {
	return svg.Group("pennant "+p.Class, svg.Number("data-x", p.X), svg.Number("data-s", p.Seq),
		g.If(p.ID != "", g.Group{h.ID(p.ID), data("property", p.Property)}),
		svg.Rect("", p.TextX-6, p.Y, p.W, 19),
		svg.Text("", p.TextX, p.Y+14, p.Text))
}

// SVG draws the sign alone.
func (s Sign) SVG() g.Node {
	return h.SVG(h.Class("diagram"), svg.Size(s.Width(), s.Height()), h.Aria("hidden", "true"), s.Pill.draw())
}

// draw draws the row that explains the signs.
func (k figureKey) draw() g.Node {
	return svg.Group("signs",
		svg.Lines(k.Pills, figurePill.draw),
		svg.Lines(k.Poles, figurePole.draw),
		svg.Lines(k.Texts, func(t figureText) g.Node { return svg.Text("", t.X, t.Y, t.Text) }))
}
