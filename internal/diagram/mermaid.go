package diagram

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/textwrap"
)

const (
	// mermaidColumns is the maximum width of a text. Mermaid widens the space between two
	// lifelines for the longest line, so long lines spread a diagram too far. It does not
	// for a note across two neighbouring lifelines (mermaidBetween), and a note over all
	// lifelines has more room (mermaidWide).
	mermaidColumns, mermaidBetween, mermaidWide = 38, 26, 76
	// mermaidName and mermaidText are the maximum numbers of characters of a name and of a
	// text.
	mermaidName, mermaidText = 60, 600
)

// mermaidLines writes at most most characters of a text, in lines of at most columns
// characters.
func mermaidLines(text string, most, columns int) string {
	var lines []string
	for line := range strings.SplitSeq(textwrap.Wrap(shorten(story.Visible(textwrap.OneLine(text)), most), columns, 0), "\n") {
		for chunk := range slices.Chunk([]rune(line), columns) { // a word can be longer than a line
			lines = append(lines, mermaidEscape(string(chunk)))
		}
	}
	return strings.Join(lines, "<br/>")
}

// mermaidLine writes at most most characters of a text in one line.
func mermaidLine(text string, most int) string {
	return mermaidEscape(shorten(story.Visible(textwrap.OneLine(text)), most))
}

// shorten shortens a text that is too long, and marks the place.
func shorten(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}

// mermaidEscape writes every character with a meaning in Mermaid as its number: characters
// that end a statement or begin a comment, markup, an entity or an arrow, and the two signs
// that Mermaid uses internally around entities. A colon between two words can stay, and
// there are many of those; after the first word of a line it could belong to the keyword
// "wrap".
func mermaidEscape(line string) string {
	var b strings.Builder
	for i, r := range line {
		switch {
		case r == ':' && strings.Contains(line[:i], " ") && strings.HasPrefix(line[i:], ": "), r >= utf8.RuneSelf && r != 'ﬂ' && r != '¶', mermaidPlain(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "#%d;", r)
		}
	}
	return b.String()
}

// mermaidPlain reports whether an ASCII character has no special meaning.
func mermaidPlain(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune(" .,'()/_-", r)
}
