package diagram

import (
	"math/bits"
	"slices"
	"time"
)

// An axis maps true time to pixels. It is not to scale, because the order of events matters
// most. Visible moments are drawn apart however close they are in time, and a wait of half
// a minute takes little more room than a wait of one second. Idle times are folded: each
// takes the same width, and its length is written above.
type axis struct {
	at    []time.Duration // the moments with a position, ascending
	x     []int           // the position of each of these moments
	folds []crease
}

// A fold is an idle time that is shortened on the axis.
type crease struct {
	from, to int // in pixels
	length   time.Duration
}

// minIdle is the shortest idle time that the axis folds. It is shorter than story.Silence,
// the shortest wait that a timeline reports, because on this axis every wait looks shorter
// than it is.
const idle = 100 * time.Millisecond

// Sizes in pixels.
const (
	foldWidth = 56
	axisPad   = 18 // the room at both ends of the axis
	// fullWidth is the width of an axis that fills a page. An axis that is shorter is
	// stretched, to at most maxStretch times its width.
	pageAxis    = 1350
	mostStretch = 3
)

// newAxis returns one axis for the diagrams of several runs of one world. It begins at x
// pixels.
func newAxis(x int, diagrams []*diagram) axis {
	var a axis
	room := map[time.Duration]int{} // the width of the pills at each moment
	for _, d := range diagrams {
		a.at = append(a.at, d.shown...)
		for _, g := range d.decisions {
			room[g.at] = max(room[g.at], pillWidth(g.label), textWidth(g.below, fontSize))
		}
	}
	slices.Sort(a.at)
	a.at = slices.Compact(a.at)
	x += axisPad
	for stretch := 100; ; stretch += 5 {
		b := axis{at: a.at}
		b.placeMoments(x, room, stretch)
		if stretch > 100 && b.end() > pageAxis {
			return a
		}
		a = b
		if stretch >= 100*mostStretch {
			return a
		}
	}
}

// placeMoments gives each moment its position, the first at x. stretch is the width of the
// gaps between moments, in percent of their normal width.
func (a *axis) placeMoments(x int, room map[time.Duration]int, stretch int) {
	// The storage's decisions are drawn as pills. A pill must not cover the pill before it,
	// but it may cover other moments.
	pill, pillEnds := false, 0
	for i, at := range a.at {
		if i > 0 {
			gap := at - a.at[i-1]
			if gap >= idle {
				a.folds = append(a.folds, crease{x, x + foldWidth, gap})
				x += foldWidth
			} else {
				x += step(gap) * stretch / 100
			}
		}
		if width := room[at]; width > 0 {
			if pill {
				x = max(x, pillEnds+4+width/2)
			}
			pill, pillEnds = true, x+width/2
		}
		a.x = append(a.x, x)
		if n := len(a.folds); n > 0 && i > 0 && at-a.at[i-1] >= idle {
			a.folds[n-1].to = x
		}
	}
}

// gapWidth returns the width of the gap between two moments, which grows with the logarithm
// of the time between them.
func step(gap time.Duration) int { return 2 + bits.Len64(uint64(gap/time.Microsecond)) }

// positionOf returns the position of any moment, in pixels. Between two moments of the axis
// it interpolates.
func (a axis) positionOf(at time.Duration) int {
	if len(a.at) == 0 {
		return 0
	}
	i, exact := slices.BinarySearch(a.at, at)
	switch {
	case exact:
		return a.x[i]
	case i == 0:
		return a.x[0]
	case i == len(a.at):
		return a.x[i-1]
	}
	before, after := a.at[i-1], a.at[i]
	return a.x[i-1] + int(scale(int64(at-before), int64(a.x[i]-a.x[i-1]), int64(after-before)))
}

// end returns the position of the axis's end.
func (a axis) end() int {
	if len(a.x) == 0 {
		return 0
	}
	return a.x[len(a.x)-1] + axisPad
}

// scale returns n*num/den, rounded towards 0, without intermediate overflow; num and den
// are positive.
func scale(n, num, den int64) int64 {
	negative := n < 0
	if negative {
		n = -n
	}
	hi, lo := bits.Mul64(uint64(n), uint64(num))
	if hi >= uint64(den) {
		return 0 // the result exceeds the range of a duration, which no clock reaches
	}
	quo, _ := bits.Div64(hi, lo, uint64(den))
	if negative {
		return -int64(quo)
	}
	return int64(quo)
}
