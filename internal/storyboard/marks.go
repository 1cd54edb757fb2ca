package storyboard

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/story"
)

// placeMoments draws the common moments.
func (l *layout) placeMoments() {
	for i, m := range l.common {
		r := l.rowOf(m.lane)
		x := l.columns[i]
		step := i + 1
		if m.comesFrom != nil {
			l.placeArrow(*m.comesFrom, r, x, step, l.colourOf(m))
		}
		l.placeMark(m, r, x, step)
		on := l.textLane(m)
		y := on.y + on.bars + 10 + m.size()
		class := m.class()
		if m.isInBar {
			y = on.y + 8 + barHeight/2 + large/3
			class += " in-bar"
		}
		limit := max(1, min(3, on.linesFor(m.size())))
		if m.isInBar {
			limit = 1
		}
		lines, fits := l.linesOf(i, limit)
		l.isClipped = l.isClipped || !fits
		for _, line := range lines {
			l.text(Text{Class: class, X: x + textGap, Y: y, Size: m.size(), Bold: m.isLarge(), Line: story.Raw(line), step: step})
			y += lineHeight(m.size())
		}
	}
}

// class returns the CSS class of the text of a moment.
func (m *moment) class() string {
	switch m.kind {
	case pauseKind, crashKind, faultKind, lapseKind, storageLossKind:
		return "caption fault"
	case lateWriteKind, findingKind, keyLossKind:
		return "caption wrong"
	case refusalKind:
		return "caption good"
	}
	return "caption"
}

// colourOf returns the CSS class of the client of a moment.
func (l *layout) colourOf(m *moment) string { return cmp.Or(l.colours[m.client], "nobody") }

// placeArrow draws an arrow from a place (a moment on a lane) to the position x on the row
// to.
func (l *layout) placeArrow(from place, to *row, x, step int, colour string) {
	origin := l.rowOf(from.lane)
	startX := min(l.axis.x(from.Moment), x-18)
	startY, endY := origin.base, to.base
	switch {
	case origin.client != "" && !l.isInSection(from): // there is no bar
	case origin.client != "" && endY > startY:
		startY += barHeight / 2
	case origin.client != "":
		startY -= barHeight / 2
	case endY > startY:
		startY += 8
	}
	switch {
	case to.client != "" && endY > startY:
		endY -= barHeight/2 + 2
	case endY > startY:
		endY -= 13
	default:
		endY += 13
	}
	path := fmt.Sprintf("M%d %d", startX, startY)
	if origin.client != "" && endY > startY && slices.ContainsFunc(l.columns, func(c int) bool { return startX < c && c < x-18 }) {
		startY = origin.y + origin.height - 4 // beside the texts of the lane
		path += fmt.Sprintf("V%d", startY)
	}
	l.shape(Shape{Class: "arrow " + colour, Path: path + fmt.Sprintf("L%d %d", x, endY), step: step})
	l.shape(Shape{Class: "head " + colour, Path: arrowHead(startX, startY, x, endY), step: step})
}

// isInSection reports whether a client is in a critical section of the cast at a moment.
func (l *layout) isInSection(at place) bool {
	return slices.ContainsFunc(l.cast.sections, func(s *history.Section) bool {
		return s.Client == at.lane.client && !s.GrantsEveryone && !at.Before(s.From) && at.Before(s.To)
	})
}

// arrowHead returns the path of the head of an arrow.
func arrowHead(fromX, fromY, x, y int) string {
	const length, half = 13, 6
	dx, dy := float64(x-fromX), float64(y-fromY)
	n := math.Hypot(dx, dy)
	if n == 0 {
		n = 1
	}
	dx, dy = dx/n, dy/n
	baseX, baseY := float64(x)-length*dx, float64(y)-length*dy
	return fmt.Sprintf("M%d %dL%.0f %.0fL%.0f %.0fz", x, y, baseX-half*dy, baseY+half*dx, baseX+half*dy, baseY-half*dx)
}

// placeMark draws the sign of a moment on its row r, at the position x.
func (l *layout) placeMark(m *moment, r *row, x, step int) {
	switch m.kind {
	case writeKind, lateWriteKind, readKind, refusalKind:
		l.placeRequest(m, x, r.base, step)
	case lapseKind:
		l.shape(Shape{Class: "expiry", Path: fmt.Sprintf("M%d %dV%d", x, r.y+2, r.y+r.height-3), step: step})
	case faultKind, crashKind, pauseKind, storageLossKind, keyLossKind, findingKind:
		if !m.isInBar {
			class := "bolt"
			if m.kind == keyLossKind || m.kind == findingKind {
				class = "bolt wrong"
			}
			l.shape(Shape{Class: class, Path: fmt.Sprintf("M%d %dl-7 12h6l-3 10l9 -14h-6l4 -8z", x+2, r.base-11), step: step})
		}
	case noticeKind, failureKind:
		l.shape(Shape{Class: "knot " + l.colourOf(m), X: x - 5, Y: r.base - 5, W: 10, H: 10, Corner: 5, step: step})
	}
}

// placeRequest draws what the storage did with a request, with its middle at x and y.
func (l *layout) placeRequest(m *moment, x, y, step int) {
	const w, h = 26, 22
	s := Shape{Class: "request " + l.colourOf(m), X: x - w/2, Y: y - h/2, W: w, H: h, Corner: h / 2, step: step}
	switch m.kind {
	case refusalKind:
		s.Class += " refused"
		s.Corner = 2
	case lateWriteKind:
		s.Class += " late applied"
	case writeKind:
		s.Class += " applied"
	}
	l.shape(s)
	if m.kind == refusalKind {
		l.shape(Shape{Class: "strike", Path: fmt.Sprintf("M%d %dL%d %d", x-w/2, y+h/2, x+w/2, y-h/2), step: step})
	}
}
