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
	moments   []time.Duration // the moments with a position, ascending
	positions []int           // the position of each of these moments
	folds     []fold
}

// A fold is an idle time that is shortened on the axis.
type fold struct {
	from, to int // in pixels
	length   time.Duration
}

// minIdle is the shortest idle time that the axis folds. It is shorter than story.Silence,
// the shortest wait that a timeline reports, because on this axis every wait looks shorter
// than it is.
const minIdle = 100 * time.Millisecond

// Sizes in pixels.
const (
	foldWidth = 56
	axisPad   = 18 // the room at both ends of the axis
	// fullWidth is the width of an axis that fills a page. An axis that is shorter is
	// stretched, to at most maxStretch times its width.
	fullWidth  = 1350
	maxStretch = 3
)

// newAxis returns one axis for the diagrams of several runs of one world. It begins at x
// pixels.
func newAxis(x int, diagrams []*diagram) axis {
	var a axis
	widths := map[time.Duration]int{} // the width of the pills at each moment
	for _, d := range diagrams {
		a.moments = append(a.moments, d.moments...)
		for _, g := range d.decisions {
			widths[g.at] = max(widths[g.at], pillWidth(g.label), textWidth(g.below, fontSize))
		}
	}
	slices.Sort(a.moments)
	a.moments = slices.Compact(a.moments)
	x += axisPad
	for stretch := 100; ; stretch += 5 {
		b := axis{moments: a.moments}
		b.placeMoments(x, widths, stretch)
		if stretch > 100 && b.end() > fullWidth {
			return a
		}
		a = b
		if stretch >= 100*maxStretch {
			return a
		}
	}
}

// placeMoments gives each moment its position, the first at x. stretch is the width of the
// gaps between moments, in percent of their normal width.
func (a *axis) placeMoments(x int, widths map[time.Duration]int, stretch int) {
	// The storage's decisions are drawn as pills. A pill must not cover the pill before it,
	// but it may cover other moments.
	afterPill, pillEnd := false, 0
	for i, at := range a.moments {
		if i > 0 {
			gap := at - a.moments[i-1]
			if gap >= minIdle {
				a.folds = append(a.folds, fold{x, x + foldWidth, gap})
				x += foldWidth
			} else {
				x += gapWidth(gap) * stretch / 100
			}
		}
		if width := widths[at]; width > 0 {
			if afterPill {
				x = max(x, pillEnd+4+width/2)
			}
			afterPill, pillEnd = true, x+width/2
		}
		a.positions = append(a.positions, x)
		if n := len(a.folds); n > 0 && i > 0 && at-a.moments[i-1] >= minIdle {
			a.folds[n-1].to = x
		}
	}
}

// gapWidth returns the width of the gap between two moments, which grows with the logarithm
// of the time between them.
func gapWidth(gap time.Duration) int { return 2 + bits.Len64(uint64(gap/time.Microsecond)) }

// positionOf returns the position of any moment, in pixels. Between two moments of the axis
// it interpolates.
func (a axis) positionOf(at time.Duration) int {
	if len(a.moments) == 0 {
		return 0
	}
	i, exact := slices.BinarySearch(a.moments, at)
	switch {
	case exact:
		return a.positions[i]
	case i == 0:
		return a.positions[0]
	case i == len(a.moments):
		return a.positions[i-1]
	}
	before, after := a.moments[i-1], a.moments[i]
	return a.positions[i-1] + int(scale(int64(at-before), int64(a.positions[i]-a.positions[i-1]), int64(after-before)))
}

// end returns the position of the axis's end.
func (a axis) end() int {
	if len(a.positions) == 0 {
		return 0
	}
	return a.positions[len(a.positions)-1] + axisPad
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
