package storyboard

import (
	"slices"
	"time"

	"github.com/locksim/locksim/history"
)

// trueTime is a duration of true time, the simulator's own time, which no clock fault changes.
type trueTime = time.Duration

// An axis maps moments to horizontal positions. Each marked moment has a column. The other
// moments between two columns are placed at equal distances, in order.
type axis struct {
	moments   []history.Moment
	positions []int
}

// x returns the position of a moment. If the axis does not have the moment, x returns the position
// of the last moment before it, or of the axis's first moment if there is none before it.
func (a axis) x(m history.Moment) int {
	i := slices.IndexFunc(a.moments, func(o history.Moment) bool { return !o.Before(m) })
	switch {
	case i < 0:
		return a.positions[len(a.positions)-1]
	case i == 0, a.moments[i] == m:
		return a.positions[i]
	}
	return a.positions[i-1]
}

// A bar is a period that is drawn as a rectangle on a lane: the row of a client, of the lock
// service or of the storage.
type bar struct {
	history.Interval
	lane   lane
	class  string
	offset int // from the top of the lane
	height int
}

// bars returns the bars of the plan: the critical sections and leases of its clients, the periods
// in which the lock service keeps their grants, and the states that began at a moment, such as
// pauses.
func (l *layout) bars() []bar {
	h := l.cast.history
	var all []bar
	rows := 0
	for _, s := range l.cast.sections {
		if s.GrantsEveryone {
			continue
		}
		colour := l.colours[s.Client]
		on := clientLane(s.Client)
		all = append(all, bar{history.Interval{From: s.From, To: s.To}, on, "section " + colour, 8, barHeight})
		if end := s.Lease.End(); s.From.Before(end) {
			all = append(all, bar{history.Interval{From: s.From, To: end}, on, "lease " + colour, 8 + barHeight + 3, leaseHeight})
		}
		for _, b := range h.Backings(s.Lock, s.Acquisition) {
			all = append(all, bar{b.Interval, lockLane, "backing " + colour, 9 + 12*(rows%2), 10})
		}
		rows++
	}
	for _, m := range l.common {
		if m.lasts == nil {
			continue
		}
		b := bar{*m.lasts, m.lane, "state", 8, barHeight}
		switch m.kind {
		case pauseKind:
			b.class += " pause"
		case crashKind:
			b.class += " down"
		default:
			b.class += " partition"
			if m.lane.client != "" {
				b.offset, b.height = 3, barHeight+10
			}
		}
		if m.lane.client == "" {
			b.offset, b.height = 6, 28
		}
		all = append(all, b)
	}
	return all
}

// newAxis sets the positions of the marked moments, and of all moments at which a bar begins or
// ends or an arrow begins.
func (l *layout) newAxis() {
	var edges []history.Moment
	for _, b := range l.bars() {
		edges = append(edges, b.From, b.To)
	}
	for _, m := range l.common {
		edges = append(edges, m.Moment)
		if m.comesFrom != nil {
			edges = append(edges, m.comesFrom.Moment)
		}
	}
	forked := history.Never // from here on the runs differ
	for _, e := range l.endings {
		for _, m := range e.moments[:min(1, len(e.moments))] {
			forked = history.Earlier(forked, m.Moment)
			if m.comesFrom != nil {
				edges = append(edges, m.comesFrom.Moment)
			}
		}
	}
	edges = slices.DeleteFunc(edges, func(m history.Moment) bool { return !m.Before(forked) })
	slices.SortFunc(edges, func(a, b history.Moment) int {
		switch {
		case a.Before(b):
			return -1
		case b.Before(a):
			return 1
		}
		return 0
	})
	edges = slices.Compact(edges)
	end := right
	if l.endSteps() > 0 {
		end = l.fork
	}
	last := left + 6 // the position before the next column
	var between []history.Moment
	place := func(to int) {
		for i, m := range between {
			l.axis.moments = append(l.axis.moments, m)
			l.axis.positions = append(l.axis.positions, last+(to-last)*(i+1)/(len(between)+1))
		}
		between = nil
	}
	next := 0
	for _, m := range edges {
		if next < len(l.common) && l.common[next].Moment == m {
			place(l.columns[next])
			last = l.columns[next]
			l.axis.moments = append(l.axis.moments, m)
			l.axis.positions = append(l.axis.positions, last)
			for next < len(l.common) && l.common[next].Moment == m {
				last = l.columns[next]
				next++
			}
			continue
		}
		between = append(between, m)
	}
	place(end)
	l.axis.moments = append(l.axis.moments, forked)
	l.axis.positions = append(l.axis.positions, end)
	if forked != history.Never {
		l.axis.moments = append(l.axis.moments, history.Never)
		l.axis.positions = append(l.axis.positions, end)
	}
}

// placeBars draws the bars.
func (l *layout) placeBars() {
	for _, b := range l.bars() {
		r := l.rowOf(b.lane)
		if r.lane != b.lane {
			continue
		}
		x := l.axis.x(b.From)
		w := max(3, l.axis.x(b.To)-x)
		step := 1
		for i, m := range l.common {
			if !m.Moment.Before(b.From) {
				step = i + 1
				break
			}
			step = i + 2
		}
		l.shape(Shape{Class: "board-bar " + b.class, X: x, Y: r.y + b.offset, W: w, H: b.height, step: step, isBar: true})
	}
}
