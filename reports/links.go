package reports

import (
	"github.com/locksim/locksim/internal/lazy"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/textwrap"
)

// address matches the address of a page in a text. A punctuation mark after the address is
// not part of it.
var address = lazy.Regexp(`https?://[^\s<>"()]*[^\s<>"().,:;!?]`)

// A stretch is a part of a text. Leads reports whether the part is the address of a page, which
// the report turns into a link.
type stretch struct {
	Text  string
	Leads bool
}

// splitLinks returns a text as one line, split before and after each address in it.
func splitLinks(text string) []stretch {
	text = story.Visible(textwrap.OneLine(text))
	var stretches []stretch
	start := 0
	add := func(to int, isAddress bool) {
		if to > start {
			stretches = append(stretches, stretch{text[start:to], isAddress})
		}
		start = to
	}
	for _, bounds := range address().FindAllStringIndex(text, -1) {
		add(bounds[0], false)
		add(bounds[1], true)
	}
	add(len(text), false)
	return stretches
}
