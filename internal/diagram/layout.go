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
	tickRow    = 34 // the lengths of the folds, and below them the times
	pillHeight = 20
)

// The heights of the parts of a lane.
const (
	sectionHeight = 26
	leaseHeight   = 13
	keyHeight     = 15
	laneGap       = 8
)

// crowd is how many lanes are so many that those in which no section is to be seen are
// low.
const crowd = 12

// layout gives every part of a diagram its place on an axis.
type layout struct {
	diagram *diagram
	axis    axis
	figure  Figure
	lanes   map[string]*figureLane
	clients map[string]string // the colour of each
	rows    []int             // of each section: its place among those at once
}

// Draw draws runs of one world on one time axis, each as wide as the widest, so that they
// can be read one below the other. Of what there is no room for, what is the nearest to
// what a run is about is kept, and its figure says how much is not drawn.
func Draw(runs []Run, room Room) []Figure {
	diagrams := make([]*diagram, len(runs))
	for i, run := range runs {
		diagrams[i] = newDiagram(run, room)
	}
	a := newAxis(laneLabel, diagrams)
	all := make([]Figure, len(runs))
	width := 0
	for i, d := range diagrams {
		all[i] = lay(d, a)
		width = max(width, all[i].Width)
	}
	for i := range all {
		all[i].Width = width
	}
	return all
}

// lay lays a diagram out.
func lay(d *diagram, a axis) Figure {
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
	l.figure.Desc = l.words()
	return l.figure
}

// layLanes gives each process its lane.
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
			if rows[name] == 0 && len(d.lanes) > crowd {
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
		lane.Base = y + lane.H - 16 // below it is room for what is the matter with the process
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

// rowsOf puts the sections of each client that are open at once one below the other.
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

// bar is a bar from one moment to another on a lane.
func (l *layout) bar(class, process string, from, to time.Duration, y, height int, title story.Raw) figureBar {
	x := l.axis.of(from)
	return figureBar{
		Class: class, Process: story.Visible(process), X: x, Y: y,
		W: max(2, l.axis.of(min(to, l.diagram.end()))-x), H: height, Title: title,
	}
}

// labelled gives a bar the first of these labels that fits.
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
			f.Bands = append(f.Bands, l.bar(b.class, b.process, b.from, b.to, lane.Y+1, lane.H-2, story.Suffering(b.process, b.text, b.from, b.to)).labelled(story.Visible(b.text)))
		}
	}
	for _, a := range d.attempts {
		if lane := l.lanes[a.client]; lane != nil {
			class := l.clients[a.client]
			if !a.ok {
				class += " failed"
			}
			f.Attempts = append(f.Attempts, l.bar(class, a.client, a.from, a.to, lane.Base-2, 4, story.Asking(a.of, d.end())))
		}
	}
	for _, k := range d.keys {
		if lane := l.lanes[k.node]; lane != nil {
			b := l.bar(cmp.Or(l.clients[k.owner], "nobody"), k.node, k.from, k.to, lane.Y+laneGap/2+k.row*(keyHeight+3), keyHeight, story.KeyOn(k.of, d.end()))
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
			f.Clocks = append(f.Clocks, figureText{l.axis.of(c.at), lane.Middle() + 5, "◷", c.text})
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
	b := l.bar(class, s.Client, s.From.At, s.To.At, y, sectionHeight, story.InSection(s, end))
	b.Client = story.Visible(s.Client)
	covered := b
	if !s.Open { // what its lease does not cover has a label of its own
		covered.W = min(b.W, l.axis.of(min(over, end))-b.X)
	}
	b.Label = covered.labelled(label, "token "+story.Token(s.Token()), story.Token(s.Token())).Label
	f.Sections = append(f.Sections, b)
	if s.Open {
		return
	}
	lease := l.bar(class, s.Client, s.From.At, over, y+sectionHeight+2, leaseHeight, story.OnLease(s, over, len(prolongedAt(s))))
	lease.Client = b.Client
	f.Leases = append(f.Leases, lease.labelled("lease"))
	l.extensions(prolongedAt(s), lease)
	if over < min(s.To.At, end) {
		bare := l.bar("bare", s.Client, over, s.To.At, y, sectionHeight,
			story.PastLease(s, over, end))
		f.Sections = append(f.Sections, bare.labelled("lease is over"))
	}
}

// mostExtensions is how many marks a bar has room for.
const mostExtensions = 40

// extensions mark the moments at which a bar was prolonged, if they can be told apart.
func (l *layout) extensions(at []time.Duration, b figureBar) {
	if len(at) > mostExtensions {
		return
	}
	for _, t := range at {
		l.figure.Extensions = append(l.figure.Extensions, figureTick{l.axis.of(t), b.Y, b.H, "prolonged at " + story.Moment(t, 3)})
	}
}

// overlap spans the lanes of two sections while both are open.
func (l *layout) overlap(o history.Overlap) {
	first, second := l.lanes[o.A.Client], l.lanes[o.B.Client]
	if first == nil || second == nil {
		return
	}
	if second.Y < first.Y {
		first, second = second, first
	}
	end := min(o.To, l.diagram.end())
	bar := l.bar("", "", o.From, end, first.Y+1, second.Y+second.H-first.Y-2, story.AtOnce(o, end))
	l.figure.Overlaps = append(l.figure.Overlaps, figureOverlap{bar.labelled("two at once", "overlap", "two"), *first, *second})
}
