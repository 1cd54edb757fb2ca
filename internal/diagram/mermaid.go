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
	// mermaidColumns is how wide a text may be. Mermaid makes room between two
	// lifelines for the longest, so lines that are too long tear a diagram apart. It
	// makes none for a note from one lifeline to the next, and there is enough for
	// one over all of them.
	mermaidColumns, mermaidBetween, mermaidWide = 38, 26, 76
	// mermaidName and mermaidText are how many characters of a name and of a text
	// there is room for.
	mermaidName, mermaidText = 60, 600
)

// mermaidLines writes no more than so many characters of a text, in lines that fit.
func mermaidLines(text string, most, columns int) string {
	var lines []string
	for line := range strings.SplitSeq(textwrap.Wrap(cut(story.Visible(textwrap.OneLine(text)), most), columns, 0), "\n") {
		for chunk := range slices.Chunk([]rune(line), columns) { // a word can be longer than a line
			lines = append(lines, mermaidEscape(string(chunk)))
		}
	}
	return strings.Join(lines, "<br/>")
}

// mermaidLine writes no more than so many characters of a text in one line.
func mermaidLine(text string, most int) string {
	return mermaidEscape(cut(story.Visible(textwrap.OneLine(text)), most))
}

// cut leaves out what of a text is too long, and shows that it did.
func cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}

// mermaidEscape writes every character that could mean something to Mermaid as its
// number: what ends a statement or begins a comment, markup, an entity, an arrow, and
// the two signs with which Mermaid marks the beginning and the end of an entity for
// itself. A colon between two words can stay, and there are many of those; after the
// first it could be the word "wrap".
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

// mermaidPlain reports whether a character of ASCII means nothing but itself.
func mermaidPlain(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune(" .,'()/_-", r)
}
