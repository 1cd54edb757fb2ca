package diagram

import (
	"cmp"
	"fmt"
	"math/bits"

	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/textwrap"
	"github.com/locksim/locksim/trace"
)

// placeArrows places an arrow for each message, from the line of its sender's lane to that
// of its receiver's.
func (l *layout) placeArrows() {
	for _, m := range l.diagram.messages {
		from, to := l.lanes[m.from], l.lanes[m.to]
		if from == nil || to == nil {
			continue
		}
		g := figureArrow{Class: cmp.Or(l.colours[m.client], "server"), Title: story.DescribeMessage(m.source, textwrap.Clip(m.source.Sent.Text, 160), l.diagram.end()), First: m.sentSeq, Last: m.endSeq}
		if m.reply {
			g.Class += " reply"
		}
		if role := l.diagram.roles; role[m.from] == trace.RoleStorage || role[m.to] == trace.RoleStorage {
			g.Class += " data"
		}
		x, y := l.axis.positionOf(m.sent), from.Base
		switch {
		case m.isLost:
			g.Class += " lost"
			g.Path = lostPath(x, y, to.Base)
		default:
			g.Path = arrowPath(x, y, l.axis.positionOf(m.ended), to.Base)
		}
		if m.isHeld {
			g.Class += " held"
		}
		l.figure.Messages = append(l.figure.Messages, g)
	}
}

// arrowPath returns the SVG path of an arrow. Its head consists of two strokes.
func arrowPath(x1, y1, x2, y2 int) string {
	dx, dy := x2-x1, y2-y1
	length := squareRoot(dx*dx + dy*dy)
	if length == 0 {
		return fmt.Sprintf("M%d %dh0", x1, y1)
	}
	// The head is 7 pixels long and 6 wide.
	bx, by := x2-7*dx/length, y2-7*dy/length
	ox, oy := -3*dy/length, 3*dx/length
	return fmt.Sprintf("M%d %dL%d %dM%d %dL%d %dL%d %d", x1, y1, x2, y2, bx+ox, by+oy, x2, y2, bx-ox, by-oy)
}

// lostPath returns the SVG path of a message that never arrives. The path ends before the
// receiver's line, with a cross. x and y1 are the point of sending, and y2 is the height of
// the receiver's line.
func lostPath(x, y1, y2 int) string {
	y := y2 - 14 // in the receiver's lane, but not on its line
	if y2 < y1 {
		y = y2 + 14
	}
	x2 := x + 10
	return fmt.Sprintf("M%d %dL%d %dM%d %dl8 8m0-8l-8 8", x, y1, x2, y, x2-4, y-4)
}

// squareRoot returns the integer part of a square root.
func squareRoot(n int) int {
	if n <= 0 {
		return 0
	}
	r := 1 << ((bits.Len(uint(n)) + 1) / 2)
	for {
		next := (r + n/r) / 2
		if next >= r {
			return r
		}
		r = next
	}
}
