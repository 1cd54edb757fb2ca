package reports

import (
	"fmt"
	"io"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/markdown"
	"github.com/locksim/locksim/internal/story"
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
	w.pairs = facts{{"a → b", aboutNoFencing + ", and " + aboutFencing}}
	return w
}

// link returns a name in Markdown, with a link to a file. If the path of the file is not
// relative, others could not follow the link, so there is none.
func link(name, file string) string {
	if !isRelative(file) {
		return markdown.Escape(name)
	}
	file = story.Visible(file)
	if story.ShellWord(file) != file { // Markdown needs no escapes in a path that needs none in a shell
		file = "<" + strings.NewReplacer("<", "%3C", ">", "%3E", "|", "%7C", "`", "%60", `\`, "%5C").Replace(file) + ">"
	}
	return fmt.Sprintf("[%s](%s)", markdown.Escape(name), file)
}

// markdownVerdict returns a verdict with its caveats: "safe, ✗ progress".
func markdownVerdict(c Cell, run int) span {
	if !c.hasRuns() || c.verdict(run) == checks.Undecided {
		return span{Text: "unknown", Tone: plain}
	}
	if c.verdict(run) == checks.Unsafe {
		return verdictBadges[checks.Unsafe].span("unsafe")
	}
	if violations := c.Runs[run].Verdict.Caveats(); len(violations) > 0 {
		return span{Text: "safe, ✗ " + story.List(violations), Tone: plain}
	}
	return span{Text: "safe", Tone: plain}
}
