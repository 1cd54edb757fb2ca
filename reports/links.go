package reports

import (
	"github.com/locksim/locksim/internal/lazy"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/textwrap"
)

// address is that of a page in a text, without the mark that ends a sentence or
// a parenthesis after it.
var address = lazy.Regexp(`https?://[^\s<>"()]*[^\s<>"().,:;!?]`)

// A stretch of a text leads to a page if it is its address.
type stretch struct {
	Text  string
	Leads bool
}

// linked cuts a text of one line at the addresses in it.
func linked(text string) []stretch {
	text = story.Visible(textwrap.OneLine(text))
	var stretches []stretch
	at := 0
	add := func(to int, leads bool) {
		if to > at {
			stretches = append(stretches, stretch{text[at:to], leads})
		}
		at = to
	}
	for _, is := range address().FindAllStringIndex(text, -1) {
		add(is[0], false)
		add(is[1], true)
	}
	add(len(text), false)
	return stretches
}
