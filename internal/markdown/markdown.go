// Package markdown writes texts of scenarios and runs into documents in Markdown.
package markdown

import (
	"strings"

	"github.com/locksim/locksim/internal/lazy"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/textwrap"
)

// Escape escapes a text so that Markdown shows it unchanged. The result can be a line, a
// paragraph, a cell of a table, or the name of a link.
func Escape(s string) string {
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
	// reference matches a text that GitHub turns into a reference when it reads the first
	// character. referenceWithin matches the beginnings, such as "www.", that GitHub
	// recognizes only at their last character.
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

// Code returns a text as inline code. The code is enclosed in more backticks than the
// text contains in a row.
func Code(s string) string {
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
