package chapters

import (
	"strings"
	"unicode"

	"github.com/locksim/locksim/internal/lazy"
	"github.com/locksim/locksim/internal/paint"
	"github.com/locksim/locksim/internal/textwrap"
)

var (
	linkPattern = lazy.Regexp(`\[([^\]]+)\]\(([^)\s]+)\)`)
	// stylePattern matches code, strong text and emphasized text.
	stylePattern = lazy.Regexp("`[^`]+`|\\*\\*[^*]+\\*\\*|\\*[^*]+\\*")
)

// plain removes the markup from a text, except that code keeps its backticks.
func plain(text string) string {
	var b strings.Builder
	for _, s := range spansOf(text) {
		b.WriteString(s.text)
	}
	return b.String()
}

// A span is a part of a text in one style.
type span struct {
	text     string
	isStrong bool
}

// spansOf splits a text by its styles, and replaces each link by the text of the link.
func spansOf(text string) (spans []span) {
	text = linkPattern().ReplaceAllString(text, "$1")
	at := 0
	for _, m := range stylePattern().FindAllStringIndex(text, -1) {
		spans = append(spans, span{text: text[at:m[0]]})
		styled := text[m[0]:m[1]]
		if styled[0] == '*' {
			styled = strings.Trim(styled, "*")
		}
		spans = append(spans, span{styled, true})
		at = m[1]
	}
	return append(spans, span{text: text[at:]})
}

// wrap breaks a text into lines of at most width columns, and highlights its strong parts: strong
// and emphasized text, and code. colour is their colour; "" means none.
func wrap(text string, width int, colour string) string {
	spans := spansOf(text)
	var all strings.Builder
	var isStrong []bool // of each character that is not a space
	for _, s := range spans {
		all.WriteString(s.text)
		for _, r := range s.text {
			if !unicode.IsSpace(r) {
				isStrong = append(isStrong, s.isStrong)
			}
		}
	}
	var b, run strings.Builder
	flush := func() {
		b.WriteString(paint.Text(colour, run.String()))
		run.Reset()
	}
	n := 0
	for _, r := range textwrap.Wrap(all.String(), width, 0) {
		switch {
		case r == '\n':
			flush()
			b.WriteRune(r)
			continue
		case !unicode.IsSpace(r):
			n++
		}
		// A space is strong only if the characters before and after it are strong.
		if strong := n > 0 && isStrong[n-1] && (!unicode.IsSpace(r) || isStrong[n]); strong {
			run.WriteRune(r)
			continue
		}
		flush()
		b.WriteRune(r)
	}
	flush()
	return b.String()
}
