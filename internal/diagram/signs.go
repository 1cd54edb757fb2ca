package diagram

import (
	"html/template"

	"github.com/locksim/locksim/trace"
)

// A Sign is a sign of the storage's lane and what it means.
type Sign struct {
	Pill figurePill
	Text string
}

// Signs are those that must not be mistaken for each other.
func Signs() []Sign {
	var signs []Sign
	for _, s := range []struct {
		decision
		text string
	}{
		{decision{label: "R 1", below: "v0", step: trace.Read, ok: true}, "a read with token 1, of version 0"},
		{decision{label: "W 2", below: "v0→1", step: trace.Write, ok: true}, "filled: a write that was applied"},
		{decision{label: "W 1", below: "refused", step: trace.Write}, "empty, crossed out: one that was refused"},
	} {
		half := max(pillWidth(s.label), textWidth(s.below, fontSize))/2 + 2
		signs = append(signs, Sign{s.pill("nobody", half, pillGap), s.text})
	}
	return signs
}

// Width and Height are the room that the sign takes.
func (s Sign) Width() int { return 2 * s.Pill.X }

func (s Sign) Height() int { return s.Pill.end() }

// SVG draws the sign by itself.
func (s Sign) SVG() template.HTML { return fill("sign.html", s) }

// A figureKey is a row that says what the signs mean: a picture that stands alone has
// it at its end.
type figureKey struct {
	Width, Height int
	Pills         []figurePill
	Poles         []figurePole
	Texts         []figureText
}

// newKey lays the key out, from x on.
func newKey(x int) figureKey {
	var k figureKey
	say := func(text string) {
		k.Texts = append(k.Texts, figureText{X: x, Y: pillGap + 14, Text: text})
		x += textWidth(text, fontSize) + 20
	}
	for _, s := range Signs() {
		pill := s.Pill
		pill.X += x
		k.Pills = append(k.Pills, pill)
		k.Height = max(k.Height, s.Height())
		x += s.Width() + 6
		say(s.Text)
	}
	k.Poles = []figurePole{{Class: "broken", X: x, From: pillGap, To: pillGap + pillHeight}}
	x += 8
	say("when a property broke")
	k.Width = x
	return k
}
