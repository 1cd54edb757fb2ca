package diagram

import (
	"cmp"
	"fmt"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/textwrap"
	"github.com/locksim/locksim/trace"
)

// Sizes in pixels.
const (
	fontSize         = 12
	laneLabelWidth   = 112 // the width of the lanes' names
	pennantRowHeight = 22  // the height of a row of pennants
	tickRowHeight    = 34  // the height of the row with the lengths of the folds and the times below them
	pillHeight       = 20
)

// The heights of the parts of a lane, in pixels.
const (
	sectionHeight = 26
	leaseHeight   = 13
	keyHeight     = 15
	laneGap       = 8
)

// crowdedLanes is the number of lanes above which the lanes of clients without sections are
// made low.
const crowdedLanes = 12

// layout gives every part of a diagram its position.
type layout struct {
	diagram *diagram
	axis    axis
	figure  Figure
	lanes   map[string]*figureLane
	colours map[string]string // the CSS class with the colour of each client
	rows    []int             // the row of each section within its client's lane
}

// Draw draws runs of one world on one time axis. All figures have the width of the widest,
// so that readers can compare them one below the other. If there is not enough room, Draw
// keeps the things nearest to the important events, and each figure says how much is not
// drawn.
func Draw(runs []story.Run, room Room) []Figure {
	diagrams := make([]*diagram, len(runs))
	for i, run := range runs {
		diagrams[i] = newDiagram(run, room)
	}
	a := newAxis(laneLabelWidth, diagrams)
	all := make([]Figure, len(runs))
	width := 0
	for i, d := range diagrams {
		all[i] = newFigure(d, a)
		width = max(width, all[i].Width)
	}
	for i := range all {
		all[i].Width = width
	}
	return all
}

// newFigure returns the figure of a diagram on an axis.
func newFigure(d *diagram, a axis) Figure {
	l := &layout{diagram: d, axis: a, lanes: map[string]*figureLane{}, colours: map[string]string{}}
	l.figure = Figure{
		ID: d.run.ID, Title: d.run.Title, Steps: d.steps, LeftOut: d.describeOmissions(), axis: a, Left: laneLabelWidth, Width: a.end() + axisPad,
	}
	l.placePennants()
	l.placeLanes()
	l.placeBars()
	l.placeArrows()
	l.placePills()
	l.placePoles()
	l.placeTicks()
	l.figure.Desc = l.describe()
	return l.figure
}

// placeLanes gives each process its lane.
func (l *layout) placeLanes() {
	d := l.diagram
	l.rows = rowsOf(d.sections)
	rows := map[string]int{}
	for i, s := range d.sections {
		rows[s.Client] = max(rows[s.Client], l.rows[i]+1)
	}
	for _, k := range d.keys {
		rows[k.node] = max(rows[k.node], k.row+1)
	}
	hasBand, decides := map[string]bool{}, map[string]bool{}
	for _, b := range d.bands {
		hasBand[b.process] = true
	}
	for _, g := range d.decisions {
		decides[g.process] = true
	}
	y, clients := l.figure.Top, 0
	for _, name := range d.lanes {
		lane := figureLane{Name: story.Visible(name), Role: d.roles[name], Y: y}
		lane.Short = textwrap.Clip(lane.Name, 13)
		switch n := max(1, rows[name]); lane.Role {
		case trace.RoleClient:
			lane.Class = fmt.Sprintf("c%d", clients%6)
			l.colours[name] = lane.Class
			clients++
			lane.H = laneGap + n*(sectionHeight+leaseHeight+4) + 24
			if rows[name] == 0 && len(d.lanes) > crowdedLanes {
				lane.H = 32
			}
		case trace.RoleStorage:
			lane.H = pillHeight + 34
			if hasBand[name] {
				lane.H += 14
			}
		case trace.RoleNode, trace.RoleCluster:
			lane.H = laneGap/2 + n*(keyHeight+3) + 18
		default:
			lane.H = 36
		}
		below := 16 // the bands are drawn below the line
		if decides[name] && lane.Role != trace.RoleStorage {
			room := pillGap + pillHeight + 21 // a pill, and the text below it
			if hasBand[name] {
				room += 14
			}
			lane.H, below = lane.H+room-below, room
		}
		lane.Base = y + lane.H - below
		if lane.Role == trace.RoleStorage {
			lane.Base = y + 9
		}
		y += lane.H
		l.figure.Lanes = append(l.figure.Lanes, lane)
	}
	for i := range l.figure.Lanes {
		l.lanes[d.lanes[i]] = &l.figure.Lanes[i]
	}
	l.figure.Height = y + 6
}

// rowsOf returns a row for each section, so that overlapping sections of one client are in
// different rows.
func rowsOf(sections []*history.Section) []int {
	rows := make([]int, len(sections))
	for i, s := range sections {
		for j := 0; j < i; j++ {
			if o := sections[j]; o.Client == s.Client && s.From.At < o.To.At && rows[j] >= rows[i] {
				rows[i] = rows[j] + 1
			}
		}
	}
	return rows
}

// newBar returns a bar on the lane of a process, from one time to another. y and height are
// in pixels.
func (l *layout) newBar(class, process string, from, to time.Duration, y, height int, title story.Raw) figureBar {
	x := l.axis.positionOf(from)
	return figureBar{
		Class: class, Process: story.Visible(process), X: x, Y: y,
		W: max(2, l.axis.positionOf(min(to, l.diagram.end()))-x), H: height, Title: title,
	}
}

// withLabel returns the bar with the first of these labels that fits; without a label if
// none fits.
func (b figureBar) withLabel(labels ...string) figureBar {
	for _, s := range labels {
		if textWidth(s, fontSize)+8 <= b.W {
			b.Label = s
			return b
		}
	}
	return b
}

// shareLabel keeps the labels of two bars from covering each other. That is possible only if both
// bars end at the same height and the labels overlap. In this case other loses its label, which
// is added to the label of b if there is room. Both titles remain.
func (b *figureBar) shareLabel(other *figureBar) {
	isBeside := other.X+textWidth(other.Label, fontSize)+8 <= b.X || b.X+textWidth(b.Label, fontSize)+8 <= other.X
	if b.Label == "" || other.Label == "" || isBeside || b.Y+b.H != other.Y+other.H {
		return
	}
	if both := b.Label + ", " + other.Label; b.Label != other.Label && textWidth(both, fontSize)+8 <= b.W {
		b.Label = both
	}
	other.Label = ""
}

// placeBars places everything that has a duration, and the marks on clocks.
func (l *layout) placeBars() {
	d, f := l.diagram, &l.figure
	for _, c := range l.axis.folds {
		f.Folds = append(f.Folds, figureFold{c.from, c.to - c.from, story.Span(c.length)})
	}
	for _, b := range d.bands {
		if lane := l.lanes[b.process]; lane != nil {
			bar := l.newBar(b.class, b.process, b.from, b.to, lane.Y+1, lane.H-2, story.DescribeState(b.process, b.text, b.from, b.to)).withLabel(story.Visible(b.text))
			for i := range f.Bands {
				f.Bands[i].shareLabel(&bar)
			}
			f.Bands = append(f.Bands, bar)
		}
	}
	for _, a := range d.attempts {
		if lane := l.lanes[a.client]; lane != nil {
			class := l.colours[a.client]
			if !a.ok {
				class += " failed"
			}
			f.Attempts = append(f.Attempts, l.newBar(class, a.client, a.from, a.to, lane.Base-2, 4, story.DescribeAcquire(a.call, d.end())))
		}
	}
	for _, k := range d.keys {
		if lane := l.lanes[k.node]; lane != nil {
			b := l.newBar(cmp.Or(l.colours[k.owner], "nobody"), k.node, k.from, k.to, lane.Y+laneGap/2+k.row*(keyHeight+3), keyHeight, story.DescribeKey(k.holding, d.end()))
			b.Client = story.Visible(k.owner)
			f.Keys = append(f.Keys, b.withLabel("key of "+b.Client, b.Client))
			l.placeExtensions(k.expiryChanges, b)
		}
	}
	for i, s := range d.sections {
		l.placeSection(i, s)
	}
	for _, o := range d.overlaps {
		l.placeOverlap(o)
	}
	for _, c := range d.clocks {
		if lane := l.lanes[c.process]; lane != nil {
			f.Clocks = append(f.Clocks, figureText{l.axis.positionOf(c.at), lane.Middle() + 5, "◷", c.text})
		}
	}
}

// placeSection places a critical section, and below it the bar of its lease. A part of the
// section after the end of the lease is drawn as a separate bar.
func (l *layout) placeSection(i int, s *history.Section) {
	lane := l.lanes[s.Client]
	if lane == nil {
		return
	}
	f, end, leaseEnded := &l.figure, l.diagram.end(), leaseEnd(s)
	y := lane.Y + laneGap/2 + l.rows[i]*(sectionHeight+leaseHeight+4)
	class := l.colours[s.Client]
	label := "in its section"
	if s.Token() != 0 {
		label += ", token " + story.Token(s.Token())
	}
	b := l.newBar(class, s.Client, s.From.At, s.To.At, y, sectionHeight, story.DescribeSection(s, end))
	b.Client = story.Visible(s.Client)
	room := b
	if !s.GrantsEveryone { // the part after the end of the lease has its own label
		room.W = min(b.W, l.axis.positionOf(min(leaseEnded, end))-b.X)
	}
	b.Label = room.withLabel(label, "token "+story.Token(s.Token()), story.Token(s.Token())).Label
	f.Sections = append(f.Sections, b)
	if s.GrantsEveryone {
		return
	}
	lease := l.newBar(class, s.Client, s.From.At, leaseEnded, y+sectionHeight+2, leaseHeight, story.DescribeLease(s, leaseEnded, len(extendedAt(s))))
	lease.Client = b.Client
	f.Leases = append(f.Leases, lease.withLabel("lease"))
	l.placeExtensions(extendedAt(s), lease)
	if leaseEnded < min(s.To.At, end) {
		overrun := l.newBar("bare", s.Client, leaseEnded, s.To.At, y, sectionHeight,
			story.DescribeOverrun(s, leaseEnded, end))
		f.Sections = append(f.Sections, overrun.withLabel("lease ended"))
	}
}

// maxExtensions is the maximum number of marks for extensions on a bar.
const maxExtensions = 40

// placeExtensions marks on a bar the moments at which a lease was extended. If there are
// too many to distinguish, it marks none.
func (l *layout) placeExtensions(times []time.Duration, b figureBar) {
	if len(times) > maxExtensions {
		return
	}
	for _, t := range times {
		l.figure.Extensions = append(l.figure.Extensions, figureTick{l.axis.positionOf(t), b.Y, b.H, "extended at " + story.Moment(t, 3)})
	}
}

// placeOverlap places a bar across the lanes of two clients for the time in which both are
// in their sections.
func (l *layout) placeOverlap(o history.Overlap) {
	first, second := l.lanes[o.A.Client], l.lanes[o.B.Client]
	if first == nil || second == nil {
		return
	}
	if second.Y < first.Y {
		first, second = second, first
	}
	end := min(o.To, l.diagram.end())
	bar := l.newBar("", "", o.From, end, first.Y+1, second.Y+second.H-first.Y-2, story.DescribeOverlap(o, end))
	bar = bar.withLabel("two clients", "overlap", "two")
	for i := range l.figure.Overlaps {
		l.figure.Overlaps[i].shareLabel(&bar)
	}
	l.figure.Overlaps = append(l.figure.Overlaps, figureOverlap{bar, *first, *second})
}
