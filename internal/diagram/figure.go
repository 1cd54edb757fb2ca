package diagram

import (
	"slices"
	"time"

	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/trace"
)

// A Figure is a space-time diagram with its layout. Everything in it has its position in
// pixels, and [Figure.SVG] writes it without further decisions.
type Figure struct {
	// ID and Title are those of the run. Desc describes the figure in words.
	ID, Title, Desc string
	// Steps are the entries of the timeline for which there is room. LeftOut says what is not
	// drawn; "" if everything is drawn.
	Steps   []story.Clause
	LeftOut string
	axis    axis

	Width, Height, Left int
	// Left is where the time axis begins, and Top where the lanes begin.
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

// A figureLane is the lane of a process. Base is the vertical position of its line, at
// which messages begin and end.
type figureLane struct {
	Name, Short string
	Role        trace.Role
	Class       string
	Y, H, Base  int
}

// Middle returns the vertical middle of the lane.
func (l figureLane) Middle() int { return l.Y + l.H/2 }

// A figureFold is a place where the axis omits an idle time. Label is the length of that
// time.
type figureFold struct {
	X, W  int
	Label string
}

// Middle returns the horizontal middle of the fold.
func (f figureFold) Middle() int { return f.X + f.W/2 }

// A figureText is a text with its baseline. Title is shown to a reader who points at it.
type figureText struct {
	X, Y  int
	Text  string
	Title story.Raw
}

// A figureTick is a short vertical mark on a bar, such as for the extension of a lease.
type figureTick struct {
	X, Y, H int
	Title   string
}

// A figureBar is a rectangle that shows how long something lasted: a critical section, a lease, a
// key, an attempt or a band. Title describes it to a reader who points at it.
type figureBar struct {
	Class, Process, Client string
	X, Y, W, H             int
	Label                  string
	Title                  story.Raw
}

// A figureOverlap is a bar across the lanes of two clients. Only the parts on these two
// lanes are hatched.
type figureOverlap struct {
	figureBar
	First, Second figureLane
}

// TextY returns the baseline of the bar's label.
func (b figureBar) TextY() int { return b.Y + b.H/2 + 4 }

// A figureArrow is a message. First and Last are the Seqs of the events with which it was
// sent and ended.
type figureArrow struct {
	Class, Path string
	Title       story.Raw
	First, Last int
}

// A figurePill is a decision of the storage. X is its horizontal middle. Filled marks an
// applied write, and Struck a refused request.
type figurePill struct {
	Class, Label, Below string
	Title               story.Raw
	X, Y, W             int
	// Corner is the radius of the corners.
	Corner         int
	Filled, Struck bool
	Seq            int // of the event at which the storage decided; 0 for an example
}

// A figurePole is a piece of the vertical line from a pennant down to its moment.
type figurePole struct {
	Class       string
	X, From, To int
}

// Left returns the left end of the pill.
func (p figurePill) Left() int { return p.X - p.W/2 }

// A figurePennant is a label above the lanes at an important moment. X is the moment's
// position. ID is an HTML ID for links, and Property the violated property; both are "" for
// a fault.
type figurePennant struct {
	ID, Class, Property, Text string
	X, Y, W                   int
	// TextX is where the text begins.
	TextX int
	Seq   int // of the event that the pennant is about
}

// HasLane reports whether a process has a lane in the figure.
func (f Figure) HasLane(process string) bool {
	return slices.ContainsFunc(f.Lanes, func(l figureLane) bool { return l.Name == story.Visible(process) })
}

// X returns the horizontal position of a moment in the figure.
func (f Figure) X(at time.Duration) int { return f.axis.positionOf(at) }
