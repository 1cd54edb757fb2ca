package reports

import (
	g "maragu.dev/gomponents"

	"github.com/locksim/locksim/internal/lazy"
	"github.com/locksim/locksim/internal/webpage"
)

// address matches the address of a page in a text. A punctuation mark after the address is
// not part of it.
var address = lazy.Regexp(`https?://[^\s<>"()]*[^\s<>"().,:;!?]`)

// linkAddresses returns a text as one line, in which each address is a link.
func linkAddresses(text string) g.Node {
	text = visibleLine(text)
	var parts g.Group
	rest := 0
	for _, at := range address().FindAllStringIndex(text, -1) {
		to := text[at[0]:at[1]]
		parts = append(parts, g.Text(text[rest:at[0]]), webpage.A(to, to))
		rest = at[1]
	}
	return append(parts, g.Text(text[rest:]))
}
