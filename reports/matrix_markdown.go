package reports

import (
	"fmt"
	"io"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/lazy"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/textwrap"
)

// writeMatrixMarkdown writes the matrix as a table that links every scenario to
// its file, as seen from the directory in which locksim runs.
func writeMatrixMarkdown(w io.Writer, m *Matrix, _ Options) error {
	words := markdownSpelling()
	md := &markdownText{}
	md.document(m.document(m.table(words), m.legend(words)))
	return md.writeTo(w)
}

// markdownSpelling is that of Markdown.
func markdownSpelling() spelling {
	w := spellingInFull()
	w.sign = func(b badge) span { return span{Text: b.Sign, Tone: plain} }
	w.verdict, w.mark, w.arrow = markdownVerdict, markdownVerdict, " → "
	w.pairs = facts{{"a → b", aboutWithout + ", and " + aboutWith}}
	return w
}

// link names a scenario and leads to its file, if that can be where others look for it.
func link(name, file string) string {
	if !isFromHere(file) {
		return markdown(name)
	}
	file = story.Visible(file)
	if story.ShellWord(file) != file { // what a shell takes as it is, Markdown does too
		file = "<" + strings.NewReplacer("<", "%3C", ">", "%3E", "|", "%7C", "`", "%60", `\`, "%5C").Replace(file) + ">"
	}
	return fmt.Sprintf("[%s](%s)", markdown(name), file)
}

// markdown writes text so that it stays text: in a line, in a cell of a table, in the
// name of a link, and as a paragraph.
func markdown(s string) string {
	s = story.Visible(textwrap.OneLine(s))
	begins := -1
	if beginsBlock().MatchString(s) {
		begins = len(s) - len(strings.TrimLeft(s, "0123456789"))
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case i == begins, strings.ContainsRune("\\`|*_~[]", r):
			b.WriteString(`\` + string(r))
		case r == '<':
			b.WriteString("&lt;")
		case r == '&' && beginsEntity().MatchString(s[i:]):
			b.WriteString("&amp;")
		case refers(s, i):
			b.WriteString("<span>" + string(r) + "</span>")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

var (
	// beginsBlock is a text that would be a heading, a quotation, an item of a list or
	// a line.
	beginsBlock = lazy.Regexp(`^(?:(?:#{1,6}|[+-]|[0-9]{1,9}[.)])(?: |$)|>|(?:- ?)+$|=+$)`)
	// beginsEntity is a character by its name or its number.
	beginsEntity = lazy.Regexp(`^&(?:#[0-9A-Za-z]+|[0-9A-Za-z]+);`)
	// reference is what GitHub sees at its first character, and referenceWithin what it
	// sees at the last before a name or number.
	reference       = lazy.Regexp(`^(?:[$]|@[0-9A-Za-z]|#[0-9]|://|:[0-9A-Za-z_+-]+:)`)
	referenceWithin = lazy.Regexp(`(?i)^(?:www[.]|gh-[0-9])`)
)

// refers reports whether GitHub makes more of a character of a text than Markdown does:
// the name of a person, who is told of it, or the number of an issue, an address, a
// formula, a picture. It does so when Markdown is done, so that no escape stops it, but
// not across the bounds of an element.
func refers(s string, i int) bool {
	switch s[i] {
	case '$', '@', '#', ':':
		return reference().MatchString(s[i:])
	case '.':
		return i >= 3 && referenceWithin().MatchString(s[i-3:])
	case '-':
		return i >= 2 && referenceWithin().MatchString(s[i-2:])
	}
	return false
}

// code writes text as code within a line, between more backticks than stand in it.
func code(s string) string {
	s = story.Visible(textwrap.OneLine(s))
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		s = " " + s + " "
	}
	return fence + s + fence
}

// markdownVerdict is a verdict with what qualifies it: "safe, ✗ progress".
func markdownVerdict(c Cell, run int) span {
	if !c.told() || c.verdict(run) == checks.Undecided {
		return span{Text: "unknown", Tone: plain}
	}
	if c.verdict(run) == checks.Unsafe {
		return verdictBadges[checks.Unsafe].span("unsafe")
	}
	if also := caveats(c.Runs[run]); len(also) > 0 {
		return span{Text: "safe, ✗ " + story.List(also), Tone: plain}
	}
	return span{Text: "safe", Tone: plain}
}
