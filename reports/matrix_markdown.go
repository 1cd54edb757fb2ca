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

// writeMatrixMarkdown writes the matrix as a table with a link from every scenario to its
// file, relative to the directory in which locksim runs.
func writeMatrixMarkdown(w io.Writer, m *Matrix, _ Options) error {
	words := markdownSpelling()
	md := &markdownText{}
	md.document(m.document(m.table(words), m.legend(words)))
	return md.writeTo(w)
}

// markdownSpelling returns the spelling of Markdown.
func markdownSpelling() spelling {
	w := spellingInFull()
	w.sign = func(b badge) span { return span{Text: b.Sign, Tone: plain} }
	w.verdict, w.mark, w.arrow = markdownVerdict, markdownVerdict, " → "
	w.pairs = facts{{"a → b", aboutWithout + ", and " + aboutWith}}
	return w
}

// link names a scenario, with a link to its file if the path is relative.
func link(name, file string) string {
	if !isRelative(file) {
		return markdown(name)
	}
	file = story.Visible(file)
	if story.ShellWord(file) != file { // Markdown needs no escapes if a shell needs none
		file = "<" + strings.NewReplacer("<", "%3C", ">", "%3E", "|", "%7C", "`", "%60", `\`, "%5C").Replace(file) + ">"
	}
	return fmt.Sprintf("[%s](%s)", markdown(name), file)
}

// markdown escapes text for Markdown: in a line, in a cell of a table, in the name of a
// link, and as a paragraph.
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
		case isGitHubReference(s, i):
			b.WriteString("<span>" + string(r) + "</span>")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

var (
	// beginsBlock matches a text that would become a heading, a quotation, an item of a
	// list or a line.
	beginsBlock = lazy.Regexp(`^(?:(?:#{1,6}|[+-]|[0-9]{1,9}[.)])(?: |$)|>|(?:- ?)+$|=+$)`)
	// beginsEntity matches a character entity at the beginning of a text.
	beginsEntity = lazy.Regexp(`^&(?:#[0-9A-Za-z]+|[0-9A-Za-z]+);`)
	// reference matches what GitHub recognizes at its first character, and referenceWithin
	// what it recognizes at the last character before a name or number.
	reference       = lazy.Regexp(`^(?:[$]|@[0-9A-Za-z]|#[0-9]|://|:[0-9A-Za-z_+-]+:)`)
	referenceWithin = lazy.Regexp(`(?i)^(?:www[.]|gh-[0-9])`)
)

// isGitHubReference reports whether GitHub gives a character of a text a meaning that
// Markdown does not: a mention, which notifies a person, the number of an issue, an
// address, a formula or an emoji. GitHub does so after Markdown, so no escape prevents it,
// but an element around the character does.
func isGitHubReference(s string, i int) bool {
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

// inlineCode writes text as inline code, between more backticks than it contains.
func inlineCode(s string) string {
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

// markdownVerdict returns a verdict with its caveats: "safe, ✗ progress".
func markdownVerdict(c Cell, run int) span {
	if !c.hasRuns() || c.verdict(run) == checks.Undecided {
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
