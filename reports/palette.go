package reports

// A Palette says how to colour text: each field is the parameter of an ECMA-48 "select
// graphic rendition" sequence, such as "31" for red. Colour never carries information that
// the words lack.
type Palette struct {
	Good, Bad, Doubt, Faint, Strong string
}

// Colour is the palette for terminals.
var Colour = Palette{Good: "32", Bad: "31", Doubt: "33", Faint: "2", Strong: "1"}

func (p Palette) good(s string) string   { return paint(p.Good, s) }
func (p Palette) bad(s string) string    { return paint(p.Bad, s) }
func (p Palette) doubt(s string) string  { return paint(p.Doubt, s) }
func (p Palette) faint(s string) string  { return paint(p.Faint, s) }
func (p Palette) strong(s string) string { return paint(p.Strong, s) }

// plain and strong are two tones in addition to the classes of badges: text without a
// colour, and highlighted text.
const plain, strong = "plain", "strong"

// paint colours a text by a tone.
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

func paint(sgr, s string) string {
	if sgr == "" || s == "" {
		return s
	}
	return "\x1b[" + sgr + "m" + s + "\x1b[0m"
}
