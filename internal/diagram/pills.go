package diagram

import (
	"cmp"

	"github.com/locksim/locksim/trace"
)

// placePills places the decisions of the storage. Each is drawn as a pill: a box with
// rounded corners.
func (l *layout) placePills() {
	for _, g := range l.diagram.decisions {
		if lane := l.lanes[g.process]; lane != nil {
			colour := cmp.Or(l.colours[g.client], "nobody")
			l.figure.Decisions = append(l.figure.Decisions, g.pill(colour, l.axis.positionOf(g.at), lane.Base+pillGap))
		}
	}
}

// The radius of a pill's corners, in pixels. The corners of a refused request are square,
// apart from a small radius.
const (
	roundCorner  = pillHeight / 2
	squareCorner = 2
)

// pill returns a decision as it is drawn, with its middle at x and its top at y. An applied
// write is filled. A refused request has square corners and is crossed out.
func (g decision) pill(colour string, x, y int) figurePill {
	p := figurePill{
		Class: colour + " ", Label: g.label, Below: g.below, Title: g.title,
		Seq: g.seq, X: x, Y: y, W: pillWidth(g.label), Corner: roundCorner,
	}
	switch {
	case !g.ok:
		p.Class += "refused"
		p.Corner, p.Struck = squareCorner, true
	case g.isCheck:
		p.Class += "checked"
	default:
		p.Class += "applied"
		p.Filled = g.step == trace.Write
	}
	p.Class += " " + string(g.step)
	return p
}

// pillWidth returns the width of a pill with the given label.
func pillWidth(label string) int { return textWidth(label, fontSize) + 14 }

// pillGap is the distance between a pill and the line of its lane.
const pillGap = 4

// covers reports whether the pill, or the text below it, covers the horizontal position x.
func (p figurePill) covers(x int) bool {
	half := max(p.W, textWidth(p.Below, fontSize))/2 + 2
	return p.X-half <= x && x <= p.X+half
}

// end returns the lower end of the pill or, if there is text below it, of that text.
func (p figurePill) end() int {
	if p.Below == "" {
		return p.Y + pillHeight + 2
	}
	return p.Y + pillHeight + 17
}
