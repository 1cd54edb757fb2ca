package diagram

import (
	"cmp"

	"github.com/locksim/locksim/trace"
)

// pills draws the decisions of the storage.
func (l *layout) pills() {
	for _, g := range l.diagram.decisions {
		if lane := l.lanes[g.process]; lane != nil {
			colour := cmp.Or(l.clients[g.client], "nobody")
			l.figure.Decisions = append(l.figure.Decisions, g.pill(colour, l.axis.positionOf(g.at), lane.Base+pillGap))
		}
	}
}

// The corners of a pill; a refused one has square corners.
const (
	roundCorner  = pillHeight / 2
	squareCorner = 2
)

// pill returns a decision as it is drawn. An applied write is filled; a refused request has
// square corners and is crossed out.
func (g decision) pill(colour string, x, y int) figurePill {
	p := figurePill{
		Class: colour + " ", Label: g.label, Below: g.below, Title: g.words,
		seq: g.seq, X: x, Y: y, W: pillWidth(g.label), Corner: roundCorner,
	}
	switch {
	case !g.ok:
		p.Class += "refused"
		p.Corner, p.Struck = squareCorner, true
	case g.checked:
		p.Class += "checked"
	default:
		p.Class += "applied"
		p.Filled = g.step == trace.Write
	}
	p.Class += " " + string(g.step)
	return p
}

// pillWidth returns the width of a decision of the storage.
func pillWidth(label string) int { return textWidth(label, fontSize) + 14 }

// pillGap is the room between a pill and the line of its lane.
const pillGap = 4

// covers reports whether the pill, or the text below it, covers a position on the axis.
func (p figurePill) covers(x int) bool {
	half := max(p.W, textWidth(p.Below, fontSize))/2 + 2
	return p.X-half <= x && x <= p.X+half
}

// end returns the lower end of the pill and the text below it.
func (p figurePill) end() int {
	if p.Below == "" {
		return p.Y + pillHeight + 2
	}
	return p.Y + pillHeight + 17
}
