package diagram

import "github.com/locksim/locksim/trace"

// A Sign is an example of a sign on the storage's lane, with its meaning.
type Sign struct {
	Pill figurePill
	Text string
}

// Signs returns the signs that readers could confuse with each other.
func Signs() []Sign {
	var signs []Sign
	for _, s := range []struct {
		decision
		text string
	}{
		{decision{label: "R 1", below: "v0", step: trace.Read, ok: true}, "a read with token 1, of version 0"},
		{decision{label: "W 2", below: "v0→1", step: trace.Write, ok: true}, "filled: an applied write"},
		{decision{label: "W 1", below: "refused", step: trace.Write}, "empty, crossed out: a refused write"},
	} {
		half := max(pillWidth(s.label), textWidth(s.below, fontSize))/2 + 2
		signs = append(signs, Sign{s.pill("nobody", half, pillGap), s.text})
	}
	return signs
}

// Width and Height return the size of the sign in pixels.
func (s Sign) Width() int { return 2 * s.Pill.X }

func (s Sign) Height() int { return s.Pill.end() }

// A figureKey is the row at the end of a self-contained picture that explains the signs.
type figureKey struct {
	Width, Height int
	Pills         []figurePill
	Poles         []figurePole
	Texts         []figureText
}

// newKey returns the row that explains the signs, beginning at x.
func newKey(x int) figureKey {
	var k figureKey
	addText := func(text string) {
		k.Texts = append(k.Texts, figureText{X: x, Y: pillGap + 14, Text: text})
		x += textWidth(text, fontSize) + 20
	}
	for _, s := range Signs() {
		pill := s.Pill
		pill.X += x
		k.Pills = append(k.Pills, pill)
		k.Height = max(k.Height, s.Height())
		x += s.Width() + 6
		addText(s.Text)
	}
	k.Poles = []figurePole{{Class: "broken", X: x, From: pillGap, To: pillGap + pillHeight}}
	x += 8
	addText("a property is violated")
	k.Width = x
	return k
}
