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

const (
	fontSize   = 12
	laneLabel  = 112
	pennantRow = 22
	tickRow    = 34 // the lengths of the folds, with the times below them
	pillHeight = 20
)

// The heights of the parts of a lane.
const (
	sectionHeight = 26
	leaseHeight   = 13
	keyHeight     = 15
	laneGap       = 8
)

// crowdedLanes is the number of lanes above which lanes without sections are low.
const crowdedLanes = 12

// layout assigns a position to every part of a diagram.
type layout struct {
	diagram *diagram
	axis    axis
	figure  Figure
	lanes   map[string]*figureLane
	clients map[string]string // the colour of each
	rows    []int             // the row of each section among those that overlap
}

// Draw draws runs of one world on one time axis, each as wide as the widest, so that they
// can be compared one below the other. If there is not enough room, it keeps what is
// nearest to the important events, and the figure says how much is not drawn.
func Draw(runs []Run, room Room) []Figure {
	diagrams := make([]*diagram, len(runs))
	for i, run := range runs {
		diagrams[i] = newDiagram(run, room)
	}
	a := newAxis(laneLabel, diagrams)
	all := make([]Figure, len(runs))
	width := 0
	for i, d := range diagrams {
		all[i] = layOut(d, a)
		width = max(width, all[i].Width)
	}
	for i := range all {
		all[i].Width = width
	}
	return all
}

// layOut returns the figure of a diagram.
func layOut(d *diagram, a axis) Figure {
	l := &layout{diagram: d, axis: a, lanes: map[string]*figureLane{}, clients: map[string]string{}}
	l.figure = Figure{
		ID: d.run.ID, Title: d.run.Title, Steps: d.steps, LeftOut: d.leftOutWords(), axis: a, Left: laneLabel, Width: a.end() + axisPad,
	}
	l.pennants()
	l.layLanes()
	l.bars()
	l.arrows()
	l.pills()
	l.poles()
	l.ticks()
	l.figure.Desc = l.description()
	return l.figure
}

// layLanes places the lane of each process.
func (l *layout) layLanes() {
	d := l.diagram
	l.rows = rowsOf(d.sections)
	rows := map[string]int{}
	for i, s := range d.sections {
		rows[s.Client] = max(rows[s.Client], l.rows[i]+1)
	}
	for _, k := range d.keys {
		rows[k.node] = max(rows[k.node], k.row+1)
	}
	banded := map[string]bool{}
	for _, b := range d.bands {
		banded[b.process] = true
	}
	y, clients := l.figure.Top, 0
	for _, name := range d.lanes {
		lane := figureLane{Name: story.Visible(name), Role: d.roles[name], Y: y}
		lane.Short = textwrap.Clip(lane.Name, 13)
		switch n := max(1, rows[name]); lane.Role {
		case trace.RoleClient:
			lane.Class = fmt.Sprintf("c%d", clients%6)
			l.clients[name] = lane.Class
			clients++
			lane.H = laneGap + n*(sectionHeight+leaseHeight+4) + 24
			if rows[name] == 0 && len(d.lanes) > crowdedLanes {
				lane.H = 32
			}
		case trace.RoleStorage:
			lane.H = pillHeight + 34
			if banded[name] {
				lane.H += 14
			}
		case trace.RoleNode, trace.RoleCluster:
			lane.H = laneGap/2 + n*(keyHeight+3) + 18
		default:
			lane.H = 36
		}
		lane.Base = y + lane.H - 16 // below it is room for the bands
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

// rowsOf puts overlapping sections of one client into different rows.
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

// bar returns a bar from one moment to another on a lane.
func (l *layout) bar(class, process string, from, to time.Duration, y, height int, title story.Raw) figureBar {
	x := l.axis.positionOf(from)
	return figureBar{
		Class: class, Process: story.Visible(process), X: x, Y: y,
		W: max(2, l.axis.positionOf(min(to, l.diagram.end()))-x), H: height, Title: title,
	}
}

// labelled returns the bar with the first of these labels that fits.
func (b figureBar) labelled(labels ...string) figureBar {
	for _, s := range labels {
		if textWidth(s, fontSize)+8 <= b.W {
			b.Label = s
			return b
		}
	}
	return b
}

func (l *layout) bars() {
	d, f := l.diagram, &l.figure
	for _, c := range l.axis.folds {
		f.Folds = append(f.Folds, figureFold{c.from, c.to - c.from, story.Span(c.length)})
	}
	for _, b := range d.bands {
		if lane := l.lanes[b.process]; lane != nil {
			f.Bands = append(f.Bands, l.bar(b.class, b.process, b.from, b.to, lane.Y+1, lane.H-2, story.DescribeState(b.process, b.text, b.from, b.to)).labelled(story.Visible(b.text)))
		}
	}
	for _, a := range d.attempts {
		if lane := l.lanes[a.client]; lane != nil {
			class := l.clients[a.client]
			if !a.ok {
				class += " failed"
			}
			f.Attempts = append(f.Attempts, l.bar(class, a.client, a.from, a.to, lane.Base-2, 4, story.DescribeAcquire(a.of, d.end())))
		}
	}
	for _, k := range d.keys {
		if lane := l.lanes[k.node]; lane != nil {
			b := l.bar(cmp.Or(l.clients[k.owner], "nobody"), k.node, k.from, k.to, lane.Y+laneGap/2+k.row*(keyHeight+3), keyHeight, story.DescribeKey(k.of, d.end()))
			b.Client = story.Visible(k.owner)
			f.Keys = append(f.Keys, b.labelled("key of "+b.Client, b.Client))
			l.extensions(k.touched, b)
		}
	}
	for i, s := range d.sections {
		l.section(i, s)
	}
	for _, o := range d.overlaps {
		l.overlap(o)
	}
	for _, c := range d.clocks {
		if lane := l.lanes[c.process]; lane != nil {
			f.Clocks = append(f.Clocks, figureText{l.axis.positionOf(c.at), lane.Middle() + 5, "◷", c.text})
		}
	}
}

// section draws a section, and below it its lease.
func (l *layout) section(i int, s *history.Section) {
	lane := l.lanes[s.Client]
	if lane == nil {
		return
	}
	f, end, over := &l.figure, l.diagram.end(), leaseEnd(s)
	y := lane.Y + laneGap/2 + l.rows[i]*(sectionHeight+leaseHeight+4)
	class := l.clients[s.Client]
	label := "in its section"
	if s.Token() != 0 {
		label += ", token " + story.Token(s.Token())
	}
	b := l.bar(class, s.Client, s.From.At, s.To.At, y, sectionHeight, story.DescribeSection(s, end))
	b.Client = story.Visible(s.Client)
	covered := b
	if !s.GrantsEveryone { // the part after the end of the lease has a label of its own
		covered.W = min(b.W, l.axis.positionOf(min(over, end))-b.X)
	}
	b.Label = covered.labelled(label, "token "+story.Token(s.Token()), story.Token(s.Token())).Label
	f.Sections = append(f.Sections, b)
	if s.GrantsEveryone {
		return
	}
	lease := l.bar(class, s.Client, s.From.At, over, y+sectionHeight+2, leaseHeight, story.DescribeLease(s, over, len(prolongedAt(s))))
	lease.Client = b.Client
	f.Leases = append(f.Leases, lease.labelled("lease"))
	l.extensions(prolongedAt(s), lease)
	if over < min(s.To.At, end) {
		bare := l.bar("bare", s.Client, over, s.To.At, y, sectionHeight,
			story.DescribeOverrun(s, over, end))
		f.Sections = append(f.Sections, bare.labelled("lease ended"))
	}
}

// mostExtensions is the maximum number of marks on a bar.
const mostExtensions = 40

// extensions marks the moments at which a lease was extended, unless there are too many to
// distinguish.
func (l *layout) extensions(at []time.Duration, b figureBar) {
	if len(at) > mostExtensions {
		return
	}
	for _, t := range at {
		l.figure.Extensions = append(l.figure.Extensions, figureTick{l.axis.positionOf(t), b.Y, b.H, "extended at " + story.Moment(t, 3)})
	}
}

// overlap draws a bar across the lanes of two sections while both are open.
func (l *layout) overlap(o history.Overlap) {
	first, second := l.lanes[o.A.Client], l.lanes[o.B.Client]
	if first == nil || second == nil {
		return
	}
	if second.Y < first.Y {
		first, second = second, first
	}
	end := min(o.To, l.diagram.end())
	bar := l.bar("", "", o.From, end, first.Y+1, second.Y+second.H-first.Y-2, story.DescribeOverlap(o, end))
	l.figure.Overlaps = append(l.figure.Overlaps, figureOverlap{bar.labelled("two clients", "overlap", "two"), *first, *second})
}
