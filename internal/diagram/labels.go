package diagram

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/textwrap"
)

// textWidth returns an upper bound of a text's width in pixels. size is the size of the
// font.
func textWidth(s string, size int) int {
	units := 0
	for _, r := range s {
		if r < 0x1100 {
			units += 62
		} else {
			units += 105
		}
	}
	return units * size / 100
}

// placePennants places the labels above the lanes, in as many rows as are needed for them
// not to overlap.
func (l *layout) placePennants() {
	var ends []int // where the last label of each row ends
	for _, p := range l.diagram.pennants {
		text := textwrap.Clip(p.text.String(), 64)
		g := figurePennant{Class: p.class, Property: string(p.property), Text: text, X: l.axis.positionOf(p.at), W: textWidth(text, fontSize) + 12, Seq: p.seq}
		left := g.X
		if left+g.W > l.axis.end() && left-g.W > laneLabelWidth {
			left -= g.W // there is no room to the right
		}
		g.TextX = left + 6
		row := slices.IndexFunc(ends, func(end int) bool { return end+4 <= left })
		if row < 0 {
			row = len(ends)
			ends = append(ends, 0)
		}
		ends[row] = left + g.W
		g.Y = 4 + row*pennantRowHeight
		if p.property != "" {
			g.ID = BrokenAnchor(l.figure.ID, p.property)
		}
		l.figure.Pennants = append(l.figure.Pennants, g)
		l.figure.Width = max(l.figure.Width, left+g.W+axisPad)
	}
	l.figure.Top = 8 + len(ends)*pennantRowHeight + tickRowHeight
}

// BrokenAnchor returns the HTML ID of the moment at which a property is violated, in the
// figure with the given ID.
func BrokenAnchor(figure string, p checks.Property) string {
	return figure + "-" + strings.NewReplacer(": ", "-", " ", "-").Replace(string(p)) // an ID has no blanks
}

// placeTicks places times above the lanes: first the times of pennants, and then those of
// the timeline's entries, as far as there is room.
func (l *layout) placeTicks() {
	// A tick is the horizontal room that a time takes.
	type tick struct{ from, to int }
	var taken []tick
	seen := map[string]bool{}
	placeTick := func(at time.Duration) {
		text := story.Moment(at, 3)
		if seen[text] {
			return
		}
		x, half := l.axis.positionOf(at), textWidth(text, fontSize)/2+5
		t := tick{x - half, x + half}
		if t.from < laneLabelWidth || slices.ContainsFunc(taken, func(o tick) bool { return t.from < o.to && o.from < t.to }) {
			return
		}
		taken, seen[text] = append(taken, t), true
		l.figure.Ticks = append(l.figure.Ticks, figureText{X: x, Y: l.figure.Top - 6, Text: text})
	}
	for _, p := range l.diagram.pennants {
		placeTick(p.at)
	}
	for _, e := range l.diagram.steps {
		placeTick(e.At)
	}
}

// describe returns a description of the figure for screen readers.
func (l *layout) describe() string {
	d := l.diagram
	return fmt.Sprintf("Space-time diagram, %s: a lane for each of %s, time from left to right over %s. It shows %s, %s and %s of the storage; %s. The timeline below describes all of it in words.",
		l.figure.Title, describeProcessCount(len(l.figure.Lanes)), story.Span(d.end()),
		story.Count(len(l.figure.Messages), "message"), story.Count(len(d.sections), "critical section"),
		story.Count(len(l.figure.Decisions), "decision"), describeOverlaps(len(d.overlaps)))
}

// describeProcessCount returns the number of processes in words.
func describeProcessCount(n int) string {
	if n == 1 {
		return "1 process"
	}
	return fmt.Sprintf("%d processes", n)
}

// describeOverlaps says whether critical sections overlap.
func describeOverlaps(n int) string {
	if n == 0 {
		return "no two critical sections overlap"
	}
	return "critical sections overlap"
}
