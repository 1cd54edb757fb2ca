package reports

import "github.com/locksim/locksim/internal/paint"

// A Palette contains the colours of text on a terminal. Each field is the parameter of an
// ECMA-48 "select graphic rendition" sequence, such as "31" for red; "" is no colour. A
// report without colours has the same words, so the colours carry no information of their
// own.
type Palette struct {
	Good, Bad, Doubt, Faint, Strong string
}

// Colour is the palette for terminals that show colours.
var Colour = Palette{Good: "32", Bad: "31", Doubt: "33", Faint: "2", Strong: "1"}

// good and the next four methods give a text one colour of the palette.
func (p Palette) good(s string) string   { return paint.Text(p.Good, s) }
func (p Palette) bad(s string) string    { return paint.Text(p.Bad, s) }
func (p Palette) doubt(s string) string  { return paint.Text(p.Doubt, s) }
func (p Palette) faint(s string) string  { return paint.Text(p.Faint, s) }
func (p Palette) strong(s string) string { return paint.Text(p.Strong, s) }

// A tone is the name of a colour. The other tones are "good", "bad", "doubt" and "soft". A
// plain text has no colour, and a strong text is highlighted.
const plain, strong = "plain", "strong"

// paint gives a text the colour of a tone. Each unknown tone, and "soft", is faint.
func (p Palette) paint(tone, s string) string {
	switch tone {
	case "good":
		return p.good(s)
	case "bad":
		return p.bad(s)
	case "doubt":
		return p.doubt(s)
	case plain:
		return s
	case strong:
		return p.strong(s)
	}
	return p.faint(s)
}
