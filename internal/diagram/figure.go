package diagram

import (
	"html/template"
	"time"

	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/trace"
)

// A Figure is a diagram with its layout: everything has its position in pixels, and the
// template diagram.html only writes it.
type Figure struct {
	// ID and Title are those of the run, and Desc describes the figure in words.
	ID, Title, Desc string
	// Steps are the clauses of the timeline that there is room for, and LeftOut says what
	// is not drawn; "" if everything is.
	Steps   []story.Clause
	LeftOut string
	axis    axis

	Width, Height, Left int
	// Top is where the lanes begin.
	Top        int
	Lanes      []figureLane
	Folds      []figureFold
	Ticks      []figureText
	Bands      []figureBar
	Attempts   []figureBar
	Keys       []figureBar
	Leases     []figureBar
	Sections   []figureBar
	Overlaps   []figureOverlap
	Extensions []figureTick
	Messages   []figureArrow
	Decisions  []figurePill
	Clocks     []figureText
	Poles      []figurePole
	Pennants   []figurePennant
}

type figureLane struct {
	Name, Short string
	Role        trace.Role
	Class       string
	Y, H, Base  int
}

// Middle returns the vertical middle of the lane.
func (l figureLane) Middle() int { return l.Y + l.H/2 }

type figureFold struct {
	X, W  int
	Label string
}

// Middle returns the horizontal middle of the fold.
func (f figureFold) Middle() int { return f.X + f.W/2 }

type figureText struct {
	X, Y  int
	Text  string
	Title story.Raw
}

type figureTick struct {
	X, Y, H int
	Title   string
}

type figureBar struct {
	Class, Process, Client string
	X, Y, W, H             int
	Label                  string
	Title                  story.Raw
}

// A figureOverlap spans the lanes of two sections, and is hatched on these two.
type figureOverlap struct {
	figureBar
	First, Second figureLane
}

// TextY returns the baseline of the bar's label.
func (b figureBar) TextY() int { return b.Y + b.H/2 + 4 }

type figureArrow struct {
	Class, Path string
	Title       story.Raw
	First, Last int
}

type figurePill struct {
	Class, Label, Below string
	Title               story.Raw
	X, Y, W             int
	// Corner is the radius of the corners.
	Corner         int
	Filled, Struck bool
	seq            int // of the event that it shows
}

// A figurePole is a piece of the line from a flag down to its moment.
type figurePole struct {
	Class       string
	X, From, To int
}

// Left returns the left end of the pill.
func (p figurePill) Left() int { return p.X - p.W/2 }

type figurePennant struct {
	ID, Class, Property, Text string
	X, Y, W                   int
	// TextX is where the text begins.
	TextX int
}

// SVG draws the figure, for a page that has the [Style] and the [Patterns].
func (f Figure) SVG() template.HTML { return fill("diagram.html", f) }

// X returns the position of a moment in the figure.
func (f Figure) X(at time.Duration) int { return f.axis.positionOf(at) }
