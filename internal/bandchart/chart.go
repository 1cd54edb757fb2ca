// Package bandchart draws the bands of a range as a slide. A band is a part of the range in which
// all values that were tried have the same outcome. The slide has a bar for each run, and the
// borders between its bands as numbers below it. It uses the shapes and the style of package
// storyboard.
package bandchart

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"

	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/storyboard"
)

// A Chart is the content of a slide.
type Chart struct {
	Title, Subtitle string
	// From and To are the ends of the range, and Format returns a value of it as text.
	From, To int64
	Format   func(value int64) string
	Bars     []Bar
	// Notes are the lines below the bars.
	Notes []string
}

// A Bar has the bands of one run, in ascending order.
type Bar struct {
	Name  string
	Bands []Band
}

// A Band is a part of the range in which all values that were tried have the same outcome. Class is
// the CSS class of the outcome: safe, unsafe, unknown or impossible. Text names the outcome.
type Band struct {
	From, To    int64
	Class, Text string
}

// style is the style sheet of the bars.
//
//go:embed bands.css
var style string

// Sizes and positions in pixels.
const (
	left, right = 60, storyboard.Width - 60
	barHeight   = 90
	leastWidth  = 6  // the smallest width of a band on the slide
	gap         = 14 // between two texts
	lineHeight  = 24
	nameHeight  = 38
	headHeight  = 96

	titleSize, headSize, textSize, smallSize = 30, 20, 18, 16
	// maxLevels is how many lines of text a bar can have above it, and below it.
	maxLevels = 3
)

// Draw draws the chart.
func (c Chart) Draw() *storyboard.Board {
	d := &drawing{Chart: c, board: &storyboard.Board{Title: c.Title, Style: style}}
	d.text(storyboard.Text{Class: "title", X: left, Y: 52, Size: titleSize, Bold: true}, c.Title)
	d.text(storyboard.Text{Class: "quiet", X: left, Y: 84, Size: textSize}, c.Subtitle)
	var bars []*placedBar
	space, isClipped := storyboard.Height-headHeight-gap, false
	for _, b := range c.Bars {
		placed := d.newBar(b)
		space -= placed.height()
		isClipped = isClipped || placed.above.isClipped || placed.below.isClipped
		bars = append(bars, placed)
	}
	if isClipped {
		c.Notes = append(c.Notes, "Some narrow parts have no label here; the other formats list them.")
	}
	space -= len(c.Notes) * lineHeight
	y := headHeight
	for _, b := range bars {
		y += max(space, 0) / (len(bars) + 1)
		d.place(b, y)
		y += b.height()
	}
	for i, note := range c.Notes {
		d.text(storyboard.Text{Class: "quiet", X: left, Y: storyboard.Height - 16 - (len(c.Notes)-1-i)*lineHeight, Size: smallSize}, note)
	}
	d.describe()
	return d.board
}

// A drawing is a chart that is being drawn.
type drawing struct {
	Chart
	board *storyboard.Board
}

// text adds a line of text, and shortens it if it is wider than the chart.
func (d *drawing) text(t storyboard.Text, line string) storyboard.Text {
	t.Line = story.Raw(line)
	for words := []rune(line); len(words) > 0 && t.Box().W > right-left; {
		words = words[:len(words)-1]
		t.Line = story.Raw(string(words) + "…")
	}
	d.board.Texts = append(d.board.Texts, t)
	return t
}

// x returns the position of a value.
func (d *drawing) x(value int64) int {
	return left + int(float64(value-d.From)/float64(d.To-d.From)*(right-left))
}

// A placedBar is a bar whose bands and texts have their horizontal positions.
type placedBar struct {
	name string
	// bands are the rectangles of the bands. The narrow ones come last, so that nothing
	// covers them.
	bands []storyboard.Shape
	// inside are the texts in the bands.
	inside       []storyboard.Text
	above, below shelves
}

// height returns the height of the bar with all its texts.
func (b *placedBar) height() int {
	return nameHeight + b.above.levels()*lineHeight + barHeight + b.below.levels()*lineHeight
}

// newBar returns a bar with the horizontal positions of its bands and texts.
func (d *drawing) newBar(b Bar) *placedBar {
	placed := &placedBar{name: b.Name}
	for _, t := range []storyboard.Text{{X: left, Anchor: "start", Line: story.Raw(d.Format(d.From))}, {X: right, Anchor: "end", Line: story.Raw(d.Format(d.To))}} {
		t.Class, t.Size = "border", textSize
		placed.below.put(t, t.X)
	}
	var narrow []storyboard.Shape
	for i, band := range b.Bands {
		from, to := d.x(band.From), right
		if i+1 < len(b.Bands) {
			to = d.x(b.Bands[i+1].From)
		}
		width := max(to-from, leastWidth)
		from = min(from, right-width)
		shape := storyboard.Shape{Class: band.Class, X: from, W: width, H: barHeight}
		if to-from < leastWidth {
			narrow = append(narrow, shape)
		} else {
			placed.bands = append(placed.bands, shape)
		}
		middle := from + width/2
		text := storyboard.Text{Class: "band-text", X: middle, Anchor: "middle", Size: headSize, Bold: true, Line: story.Raw(band.Text)}
		if text.Box().W+2*gap <= width {
			placed.inside = append(placed.inside, text)
		} else {
			text.Class, text.Size, text.Line = "band-text "+band.Class, smallSize, story.Raw(band.Text+": "+d.values(band))
			placed.above.put(text, middle)
		}
		if i > 0 {
			placed.below.put(storyboard.Text{Class: "border", X: from, Anchor: "middle", Size: textSize, Line: story.Raw(d.Format(band.From))}, from)
		}
	}
	// Narrow bands are drawn wider than they are, so they can overlap. An unsafe band covers the
	// others.
	slices.SortStableFunc(narrow, func(a, b storyboard.Shape) int {
		return cmp.Compare(narrowRank(a), narrowRank(b))
	})
	placed.bands = append(placed.bands, narrow...)
	return placed
}

// narrowRank orders narrow bands: the last is drawn above the others.
func narrowRank(s storyboard.Shape) int {
	return slices.Index([]string{"safe", "unknown", "unsafe"}, s.Class)
}

// place draws a bar whose top is at y.
func (d *drawing) place(b *placedBar, y int) {
	d.text(storyboard.Text{Class: "name", X: left, Y: y + headSize, Size: headSize, Bold: true}, b.name)
	top := y + nameHeight + b.above.levels()*lineHeight
	bottom := top + barHeight
	for _, shape := range b.bands {
		shape.Y = top
		for _, class := range []string{"band ", "band pattern "} { // colours, and a pattern for readers who do not see them
			drawn := shape
			drawn.Class = class + shape.Class
			d.board.Shapes = append(d.board.Shapes, drawn)
		}
	}
	for _, t := range b.inside {
		t.Y = top + barHeight/2 + headSize*2/5
		d.board.Texts = append(d.board.Texts, t)
	}
	for _, l := range b.above.labels {
		l.Y = top - 10 - l.level*lineHeight
		d.board.Texts = append(d.board.Texts, l.Text)
		d.line(l.of, l.Y+4, top)
	}
	for _, l := range b.below.labels {
		l.Y = bottom + lineHeight + l.level*lineHeight
		d.board.Texts = append(d.board.Texts, l.Text)
		d.line(l.of, bottom, l.Y-textSize+2)
	}
}

// values returns the first and the last value of a band as text.
func (d *drawing) values(b Band) string {
	if b.From == b.To {
		return d.Format(b.From)
	}
	return d.Format(b.From) + " to " + d.Format(b.To)
}

// line draws a vertical line.
func (d *drawing) line(x, from, to int) {
	d.board.Shapes = append(d.board.Shapes, storyboard.Shape{Class: "border-line", X: x, Y: from, W: 1, H: max(to-from, 0)})
}

// describe gives the board a description of the chart in words, for readers who do not see
// it.
func (d *drawing) describe() {
	words := []string{d.Title + "."}
	for _, b := range d.Bars {
		var bands []string
		for _, band := range b.Bands {
			bands = append(bands, d.values(band)+" "+band.Text)
		}
		words = append(words, b.Name+": "+strings.Join(bands, ", ")+".")
	}
	d.board.Describe(words...)
}

// shelves are the lines of text above or below a bar. Each text is put on the first line on which
// it covers no other text.
type shelves struct {
	labels []label
	// isClipped reports whether there was no room for a text.
	isClipped bool
}

// A label is a text on a line of text. level is the number of the line, counted from the bar,
// from 0. of is the horizontal position of what the label names.
type label struct {
	storyboard.Text
	level, of int
}

// put puts a text on a line, and moves it so that it is within the chart. of is the position of
// what the text names. If there is no room, put leaves the text out.
func (s *shelves) put(t storyboard.Text, of int) {
	if half := t.Box().W / 2; t.Anchor == "middle" {
		t.X = max(left+half, min(right-half, t.X))
	}
	box := t.Box()
	for level := range maxLevels {
		if !slices.ContainsFunc(s.labels, func(l label) bool {
			other := l.Box()
			return l.level == level && box.X < other.X+other.W+gap && other.X < box.X+box.W+gap
		}) {
			s.labels = append(s.labels, label{t, level, of})
			return
		}
	}
	s.isClipped = true
}

// levels returns the number of lines.
func (s *shelves) levels() int {
	n := 0
	for _, l := range s.labels {
		n = max(n, l.level+1)
	}
	return n
}
