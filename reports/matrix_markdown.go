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

// writeMatrixMarkdown writes the matrix as a table in Markdown. Every scenario links to its
// file, relative to the directory in which locksim runs.
func writeMatrixMarkdown(w io.Writer, m *Matrix, _ Options) error {
	words := markdownSpelling()
	md := &markdownText{}
	md.document(m.document(m.table(words), m.legend(words)))
	return md.writeTo(w)
}

// markdownSpelling returns the spelling for Markdown.
func markdownSpelling() spelling {
	w := spellingInFull()
	w.sign = func(b badge) span { return span{Text: b.Sign, Tone: plain} }
	w.verdict, w.mark, w.arrow = markdownVerdict, markdownVerdict, " → "
	w.pairs = facts{{"a → b", aboutWithout + ", and " + aboutWith}}
	return w
}

// link returns a name in Markdown, with a link to a file. If the path of the file is not
// relative, others could not follow the link, so there is none.
func link(name, file string) string {
	if !isRelative(file) {
		return markdown(name)
	}
	file = story.Visible(file)
	if story.ShellWord(file) != file { // Markdown needs no escapes in a path that needs none in a shell
		file = "<" + strings.NewReplacer("<", "%3C", ">", "%3E", "|", "%7C", "`", "%60", `\`, "%5C").Replace(file) + ">"
	}
	return fmt.Sprintf("[%s](%s)", markdown(name), file)
}

// markdown escapes a text so that Markdown shows it unchanged. The result can be a line, a
// paragraph, a cell of a table, or the name of a link.
func markdown(s string) string {
	s = story.Visible(textwrap.OneLine(s))
	escapeAt := -1
	if beginsBlock().MatchString(s) {
		escapeAt = len(s) - len(strings.TrimLeft(s, "0123456789"))
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case i == escapeAt, strings.ContainsRune("\\`|*_~[]", r):
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
	// beginsBlock matches a text at whose beginning Markdown would see a heading, a
	// quotation, an item of a list or a horizontal line.
	beginsBlock = lazy.Regexp(`^(?:(?:#{1,6}|[+-]|[0-9]{1,9}[.)])(?: |$)|>|(?:- ?)+$|=+$)`)
	// beginsEntity matches a character entity, such as &amp;, at the beginning of a text.
	beginsEntity = lazy.Regexp(`^&(?:#[0-9A-Za-z]+|[0-9A-Za-z]+);`)
	// reference matches texts to which GitHub gives a meaning at their first character.
	// referenceWithin matches the beginnings of such texts where the meaning depends on the
	// last character of the match, such as the dot in "www.".
	reference       = lazy.Regexp(`^(?:[$]|@[0-9A-Za-z]|#[0-9]|://|:[0-9A-Za-z_+-]+:)`)
	referenceWithin = lazy.Regexp(`(?i)^(?:www[.]|gh-[0-9])`)
)

// isGitHubReference reports whether the character at s[i] makes GitHub see a reference: a
// mention, which notifies a person, the number of an issue, an address, a formula or an
// emoji. GitHub looks for references after it has removed the escapes of Markdown, so an
// escape does not prevent them. An HTML element around the character does.
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

// inlineCode returns a text as inline code. The code is enclosed in more backticks than the
// text contains in a row.
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
	if violations := caveats(c.Runs[run]); len(violations) > 0 {
		return span{Text: "safe, ✗ " + story.List(violations), Tone: plain}
	}
	return span{Text: "safe", Tone: plain}
}
