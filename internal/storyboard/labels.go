package storyboard

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/textwrap"
	"github.com/locksim/locksim/trace"
)

// placeLabels draws the lanes, with their names.
func (l *layout) placeLabels() {
	h := l.cast.history
	for _, r := range l.lanes {
		l.shape(Shape{Class: "board-lane " + string(r.role), X: 0, Y: r.y + 1, W: Width, H: r.height - 2})
		end := right
		if l.endSteps() > 0 {
			end = l.fork
		}
		l.shape(Shape{Class: "line", Path: fmt.Sprintf("M%d %dH%d", left, r.base, end)})
		name, below := "storage", ""
		switch {
		case r.client != "":
			name = textwrap.Clip(story.Visible(r.client), 12)
			l.shape(Shape{Class: "swatch " + l.colours[r.client], X: margin, Y: r.base - 7, W: 12, H: 14, Corner: 2})
		case r.lane == lockLane:
			name, below = "lock service", l.nodesUsed()
		default:
			if len(l.cast.objects) == 1 {
				below = textwrap.Clip(story.Visible(l.cast.objects[0]), 12)
			} else if n := len(objectsOf(h)); n > 1 {
				below = fmt.Sprintf("%d objects", n)
			}
		}
		x := margin
		if r.client != "" {
			x += 20
		}
		l.text(Text{Class: "name", X: x, Y: r.base + 6, Size: 17, Bold: true, Line: story.Raw(name)})
		if below != "" {
			l.text(Text{Class: "quiet", X: margin, Y: r.base + 6 + lineHeight(small), Size: small, Line: story.Raw(below)})
		}
	}
}

// objectsOf returns the objects that were written.
func objectsOf(h *history.History) []string {
	var all []string
	for _, v := range h.Versions() {
		if !slices.Contains(all, v.Object) {
			all = append(all, v.Object)
		}
	}
	return all
}

// nodesUsed says on how many of the nodes the lock keeps its grants.
func (l *layout) nodesUsed() string {
	h := l.cast.history
	used, nodes := map[string]bool{}, 0
	for _, lock := range h.Trace.Locks {
		for _, s := range lock.Slots {
			used[s.Node] = true
		}
		for _, m := range lock.Members {
			used[m] = true
		}
	}
	n := 0
	for _, p := range h.Trace.Processes {
		if p.Role == trace.RoleNode {
			nodes++
			if used[p.Name] {
				n++
			}
		}
	}
	switch {
	case nodes == 0 || n == 0:
		return ""
	case nodes == 1:
		return "1 node"
	}
	return fmt.Sprintf("%d of %d nodes", n, nodes)
}

// placeTimes writes the times of the common moments above the lanes, and the length of each
// long wait between them.
func (l *layout) placeTimes() {
	y, digits := l.top-10, l.digitsOfTimes()
	for i, m := range l.common {
		x := l.columns[i]
		l.shape(Shape{Class: "tick-line", Path: fmt.Sprintf("M%d %dV%d", x, l.top-4, l.bottom), step: i + 1})
		l.text(Text{Class: "quiet", X: x, Y: y, Anchor: "middle", Size: small, Line: story.Raw(story.Moment(m.At, digits)), step: i + 1})
		if i > 0 {
			l.placeWait(l.columns[i-1], x, m.At-l.common[i-1].At, i+1)
		}
	}
}

// digitsOfTimes returns how many digits the times have after the point: 3, or up to 5 if
// neighbouring moments at different times would otherwise show the same time.
func (l *layout) digitsOfTimes() int {
	const least, most = 3, 5
	equal := func(digits int) (n int) {
		for i := 1; i < len(l.common); i++ {
			if a, b := l.common[i-1].At, l.common[i].At; a != b && story.Moment(a, digits) == story.Moment(b, digits) {
				n++
			}
		}
		return n
	}
	for digits := least; digits < most; digits++ {
		if equal(digits) == equal(most) {
			return digits
		}
	}
	return most
}

// placeWait marks a long wait between two positions, with its length.
func (l *layout) placeWait(from, to int, wait trueTime, step int) {
	if wait < story.Silence {
		return
	}
	x, y := (from+to)/2, l.top-32
	l.text(Text{Class: "wait", X: x, Y: y, Anchor: "middle", Size: small, Bold: true, Line: story.Raw(story.ProseSpan(wait)), step: step})
	l.shape(Shape{Class: "break", Path: fmt.Sprintf("M%d %dl4 -7l8 14l8 -14l4 7", x-12, y+13), step: step})
}
