// Package slide writes storyboards as SVG, for pages and as documents of their own. Package
// storyboard has given each part its position.
package slide

import (
	_ "embed"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/locksim/locksim/internal/diagram"
	"github.com/locksim/locksim/internal/storyboard"
	"github.com/locksim/locksim/internal/svg"
)

//go:embed storyboard.css
var style string

// Style returns the style sheet for the storyboards of a page. The page also has the style
// of package diagram.
func Style() string { return style }

// SVG draws a board, for a page that has the [Style], and the style and the patterns of
// package diagram.
func SVG(b *storyboard.Board) g.Node {
	return h.SVG(
		svg.Namespace(), h.Class("diagram storyboard"), svg.ViewBox(storyboard.Width, storyboard.Height), h.Role("img"), h.Aria("label", b.Desc()),
		svg.Paper(storyboard.Width, storyboard.Height),
		svg.Lines(b.Shapes, shape),
		svg.Lines(b.Texts, text),
	)
}

// shape draws a shape of a board.
func shape(s storyboard.Shape) g.Node {
	if s.Path != "" {
		return svg.Path(s.Class, s.Path)
	}
	return svg.Rect(s.Class, s.X, s.Y, s.W, s.H, g.If(s.Corner != 0, svg.Number("rx", s.Corner)))
}

// text draws a text of a board. The style has the most frequent size.
func text(t storyboard.Text) g.Node {
	return svg.Text(t.Class, t.X, t.Y, t.Line.String(),
		g.If(t.Size != 16, svg.Number("font-size", t.Size)),
		g.If(t.Bold, g.Attr("font-weight", "700")),
		g.If(t.Anchor != "", g.Attr("text-anchor", t.Anchor)))
}

// Picture returns boards, one below the other, as a self-contained SVG document with a title.
// page is a style sheet with the colours of a light and of a dark page. The document has the dark
// colours only if its reader prefers dark pages.
func Picture(title string, boards []*storyboard.Board, page string) []byte {
	style := Style()
	var drawn g.Group
	for i, b := range boards {
		if !strings.Contains(style, b.Style) {
			style += b.Style
		}
		drawn = append(drawn, g.Text("\n"), h.SVG(svg.Number("y", i*storyboard.Height), svg.Size(storyboard.Width, storyboard.Height), SVG(b)))
	}
	return svg.Document("group", title, diagram.PaperStyle(page, style), storyboard.Width, storyboard.Height*len(boards), diagram.Patterns(), drawn)
}
