package storyboard

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/textwrap"
)

// Sizes in pixels.
const (
	margin      = 24
	left        = 184 // where the lanes' lines begin
	right       = Width - margin
	small       = 16 // the size of ordinary text
	large       = 19 // the size of text about the most important moments
	titleSize   = 28
	headHeight  = 52 // the height of the waits and times above the lanes
	footHeight  = 34
	endingRow   = 70
	endGap      = 280 // the distance between two moments of an ending
	leadIn      = 30  // the room between the lanes' beginning and the first moment
	textGap     = 9   // between a moment's line and its text
	columnGap   = 14  // between a text and the next moment
	barHeight   = 34
	leaseHeight = 12
)

// A layout gives every part of a plan (what the storyboard shows) its position.
type layout struct {
	*plan
	board *Board
	lanes []*row
	// columns are the horizontal positions of the moments that all runs share. endColumns are
	// those of the moments of endings, the parts in which the runs differ. fork is where the runs
	// begin to differ.
	columns, endColumns []int
	fork                int
	axis                axis
	top, bottom         int
	// isClipped says that there is not enough room for the text of a moment.
	isClipped bool
	colours   map[string]string
}

// A row is a lane with its position. Its line is at base, and its texts begin below bars.
type row struct {
	lane
	y, height int
	base      int
	// bars is the height of the bars at the top of the row. texts is the height of the texts
	// below them.
	bars, texts int
}

func newLayout(title string, s *plan) *layout {
	l := &layout{plan: s, colours: map[string]string{}}
	l.board = &Board{Title: story.Visible(textwrap.OneLine(title))}
	return l
}

// draw draws the board.
func (l *layout) draw() *Board {
	l.placeTitle()
	l.addLanes()
	l.placeColumns()
	l.fillBars()
	l.placeLanes()
	l.newAxis()
	l.placeLabels()
	l.placeTimes()
	l.placeBars()
	l.placeMoments()
	l.placeEndings()
	l.placeFoot()
	l.board.Moments = len(l.common) + l.endSteps()
	l.board.Steps = len(l.common)
	for _, e := range l.endings {
		l.board.Steps += e.steps()
	}
	l.board.next = append(slices.Clone(l.columns), l.fork)
	l.describe()
	return l.board
}

// text adds a text.
func (l *layout) text(t Text) { l.board.Texts = append(l.board.Texts, t) }

// shape adds a shape.
func (l *layout) shape(s Shape) { l.board.Shapes = append(l.board.Shapes, s) }

// placeTitle places the heading in one or two lines.
func (l *layout) placeTitle() {
	size := titleSize
	lines, fits := wrap(l.board.Title, Width-2*margin, 1, size, true)
	if !fits {
		size = 22
		lines, _ = wrap(l.board.Title, Width-2*margin, 2, size, true)
	}
	y := margin / 2
	for _, line := range lines {
		y += size * 6 / 5
		l.text(Text{Class: "title", X: margin, Y: y, Size: size, Bold: true, Line: story.Raw(line)})
	}
	l.top = y + 14
}

// addLanes adds the lanes: the lock service, the clients and the storage.
func (l *layout) addLanes() {
	h := l.cast.history
	if !h.NoExclusion() {
		l.lanes = append(l.lanes, &row{lane: lockLane, bars: 30})
	}
	for i, client := range l.cast.clients {
		l.colours[client] = fmt.Sprintf("c%d", i)
		l.lanes = append(l.lanes, &row{lane: clientLane(client), bars: barHeight + leaseHeight + 6})
	}
	l.lanes = append(l.lanes, &row{lane: storageLane, bars: 26})
}

// rowOf returns the row of a lane (a client, the lock service or the storage), or the row of
// the storage if the lane is not shown.
func (l *layout) rowOf(on lane) *row {
	for _, r := range l.lanes {
		if r.lane == on {
			return r
		}
	}
	return l.lanes[len(l.lanes)-1]
}

// placeLanes gives the lanes their heights and positions.
func (l *layout) placeLanes() {
	l.top += headHeight
	l.bottom = Height - footHeight - len(l.endings)*endingRow
	for limit := 3; ; limit-- {
		need := 0
		for _, r := range l.lanes {
			r.texts = 0
		}
		for i, m := range l.common {
			if r := l.textLane(m); !m.isInBar {
				lines, _ := l.linesOf(i, limit)
				r.texts = max(r.texts, len(lines)*lineHeight(m.size()))
			}
		}
		for _, r := range l.lanes {
			r.height = r.bars + 16 + r.texts
			need += r.height
		}
		spare := l.bottom - l.top - need
		if spare < 0 && limit > 1 {
			continue
		}
		y := l.top
		for _, r := range l.lanes {
			r.height += min(spare/len(l.lanes), 60)
			r.y = y
			y += r.height
			r.base = r.y + 8 + barHeight/2
			if r.client == "" {
				r.base = r.y + 20
			}
		}
		l.bottom = y
		return
	}
}

// linesFor returns how many lines of text of the given size fit on the row.
func (r *row) linesFor(size int) int { return (r.height - r.bars - 12) / lineHeight(size) }
