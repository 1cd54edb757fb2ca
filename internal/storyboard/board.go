package storyboard

import (
	"slices"
	"strings"

	"github.com/locksim/locksim/internal/story"
)

// The size of a storyboard: a slide with the proportions 16:9.
const (
	Width  = 1280
	Height = 720
)

// A Board is a storyboard with its layout: shapes and texts with positions in pixels.
type Board struct {
	Title string
	// Moments is the greatest number of moments that are marked in one run.
	Moments int
	Shapes  []Shape
	Texts   []Text
	// Style is a further style sheet for the board, with the variables of package slide; "" if
	// it needs none.
	Style string
	// Steps is the number of builds. A build is the board with only its first moments: see
	// [Board.Build]. next[n] is the horizontal position of the moment that build n+1 adds.
	Steps int
	next  []int
	// sentences describe the storyboard in words.
	sentences []sentence
}

// A Shape is a rectangle or, if Path is not "", a line.
type Shape struct {
	Class      string
	X, Y, W, H int
	Corner     int
	Path       string
	// step is the number of the first build that has the shape; 0 if all builds have it. isBar
	// means that the shape extends over time: a build cuts the shape at the first moment that the
	// build does not show.
	step  int
	isBar bool
}

// A Text is one line of text. Y is its baseline.
type Text struct {
	Class  string
	X, Y   int
	Anchor string
	Size   int
	Bold   bool
	Line   story.Raw
	step   int
}

// A Box is the largest rectangle that a text can need.
type Box struct{ X, Y, W, H int }

// Box returns the largest rectangle that the text can need.
func (t Text) Box() Box {
	w := textWidth(t.Line.String(), t.Size, t.Bold)
	x := t.X
	switch t.Anchor {
	case "middle":
		x -= w / 2
	case "end":
		x -= w
	}
	return Box{x, t.Y - t.Size*19/20, w, t.Size * 6 / 5}
}

// A sentence is a part of the description of a board. step is the number of the first build
// that has the sentence.
type sentence struct {
	text string
	step int
}

// Describe sets the sentences that describe the board in words.
func (b *Board) Describe(sentences ...string) {
	b.sentences = nil
	for _, text := range sentences {
		b.sentences = append(b.sentences, sentence{text: story.Visible(text)})
	}
}

// Desc returns the description of the board in words, as one text.
func (b *Board) Desc() string { return strings.Join(b.Sentences(), " ") }

// Sentences returns the description of the board in words: the title, and a sentence for each
// moment.
func (b *Board) Sentences() []string {
	var all []string
	for _, s := range b.sentences {
		all = append(all, s.text)
	}
	return all
}

// Build returns the board with its first n steps only, for a talk in which each slide adds one
// moment. n is from 1 to Steps.
func (b *Board) Build(n int) *Board {
	built := *b
	built.Shapes, built.Texts = nil, nil
	built.sentences = slices.DeleteFunc(slices.Clone(b.sentences), func(s sentence) bool { return s.step > n })
	for _, s := range b.Shapes {
		if s.step > n {
			continue
		}
		if s.isBar && n < len(b.next) {
			s.W = min(s.W, b.next[n]-s.X)
		}
		if !s.isBar || s.W > 0 {
			built.Shapes = append(built.Shapes, s)
		}
	}
	for _, t := range b.Texts {
		if t.step <= n {
			built.Texts = append(built.Texts, t)
		}
	}
	return &built
}
