package diagram

import (
	"math/bits"
	"slices"
	"time"
)

// An axis maps true time to pixels. Moments at which something is to be seen stand
// apart, however close they are in time, and a wait of half a minute takes little
// more room than one of a second: what counts is the order, so the axis is not to
// scale. The lengths are
// written where they matter. Idle stretches are folded.
type axis struct {
	at    []time.Duration // ascending
	x     []int           // of each
	folds []crease
}

// A crease is an idle stretch of the axis that is folded.
type crease struct {
	from, to int // in pixels
	length   time.Duration
}

// idle is how long nothing must be to be seen for the axis to fold it. It is shorter
// than the story.Silence of a timeline: on the axis a wait would look like less than it is.
const idle = 100 * time.Millisecond

const (
	foldWidth = 56
	axisPad   = 18
	// pageAxis is how long an axis should be to fill a page; a shorter one is
	// stretched, though not to more than three times its length.
	pageAxis    = 1350
	mostStretch = 3
)

// newAxis makes one axis for the diagrams of several runs of one world, that begins
// at x pixels.
func newAxis(x int, diagrams []*diagram) axis {
	var a axis
	room := map[time.Duration]int{} // what stands there has this width
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
		b.place(x, room, stretch)
		if stretch > 100 && b.end() > pageAxis {
			return a
		}
		a = b
		if stretch >= 100*mostStretch {
			return a
		}
	}
}

// place gives each moment its place, from x on. Steps are stretched by a percentage.
func (a *axis) place(x int, room map[time.Duration]int, stretch int) {
	// A pill needs its room from the pill before it, not from every moment.
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

// step is how many pixels there are between two moments: more for more time, but on
// the scale of a logarithm.
func step(gap time.Duration) int { return 2 + bits.Len64(uint64(gap/time.Microsecond)) }

// of is where a moment is.
func (a axis) of(at time.Duration) int {
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

// end is where the axis ends.
func (a axis) end() int {
	if len(a.x) == 0 {
		return 0
	}
	return a.x[len(a.x)-1] + axisPad
}

// scale is n*num/den, rounded towards 0, without overflow on the way; num and
// den are positive.
func scale(n, num, den int64) int64 {
	negative := n < 0
	if negative {
		n = -n
	}
	hi, lo := bits.Mul64(uint64(n), uint64(num))
	if hi >= uint64(den) {
		return 0 // beyond what a duration can hold: no clock gets there
	}
	quo, _ := bits.Div64(hi, lo, uint64(den))
	if negative {
		return -int64(quo)
	}
	return int64(quo)
}
