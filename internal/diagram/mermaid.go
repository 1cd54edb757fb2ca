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
	// mermaidColumns is the maximum width of a text in characters. Mermaid puts two
	// lifelines so far apart that the longest line between them fits, so long lines make a
	// diagram too wide. A note across two neighbouring lifelines does not move them apart,
	// so it must be narrower (mermaidBetween). A note over all lifelines has more room
	// (mermaidWide).
	mermaidColumns, mermaidBetween, mermaidWide = 38, 26, 76
	// mermaidName and mermaidText are the maximum numbers of characters in a name and in a
	// text.
	mermaidName, mermaidText = 60, 600
)

// mermaidLines returns a text in lines of at most columns characters, with <br/> between
// them. It shortens the text to at most limit characters.
func mermaidLines(text string, limit, columns int) string {
	var lines []string
	for line := range strings.SplitSeq(textwrap.Wrap(shorten(story.Visible(textwrap.OneLine(text)), limit), columns, 0), "\n") {
		for chunk := range slices.Chunk([]rune(line), columns) { // a word can be longer than a line
			lines = append(lines, mermaidEscape(string(chunk)))
		}
	}
	return strings.Join(lines, "<br/>")
}

// mermaidLine returns a text as one line, which it shortens to at most limit characters.
func mermaidLine(text string, limit int) string {
	return mermaidEscape(shorten(story.Visible(textwrap.OneLine(text)), limit))
}

// shorten shortens a text to at most limit characters. If it removes any, the text ends
// with "…".
func shorten(text string, limit int) string {
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	return string([]rune(text)[:limit-1]) + "…"
}

// mermaidEscape replaces every character that has a meaning in Mermaid by its number. Such
// characters end a statement, or begin a comment, markup, an entity or an arrow. Mermaid
// uses the signs ﬂ and ¶ internally around entities. A colon that is followed by a space
// stays, to keep the text readable. In the first word of a line it is replaced, because
// there it could belong to Mermaid's keyword "wrap".
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

// mermaidPlain reports whether an ASCII character has no meaning in Mermaid.
func mermaidPlain(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune(" .,'()/_-", r)
}
