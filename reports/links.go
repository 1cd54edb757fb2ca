package reports

import (
	"github.com/locksim/locksim/internal/lazy"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/textwrap"
)

// address matches the address of a page in a text, without a punctuation mark after it.
var address = lazy.Regexp(`https?://[^\s<>"()]*[^\s<>"().,:;!?]`)

// A stretch is a part of a text; Leads reports whether it is the address of a page.
type stretch struct {
	Text  string
	Leads bool
}

// splitLinks splits a text of one line at the addresses in it.
func splitLinks(text string) []stretch {
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
