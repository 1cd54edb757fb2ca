package command

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/sim"
)

// say tells people something, usually on standard error, in one line. A file's name may
// hold anything, so what does not print as itself is escaped: no name writes on the
// terminal what it likes, or a line that is a command for a continuous integration.
func say(w io.Writer, format string, args ...any) error {
	_, err := fmt.Fprintln(w, reports.NoCommands(story.Visible(fmt.Sprintf(format, args...))))
	return err
}

// sayError tells an error: a line for each of several that were joined, and the stacks of
// a lock that misbehaves line by line. Any other line break in it is that of a name.
func sayError(w io.Writer, err error) {
	for _, line := range messages(err) {
		say(w, "%s", line)
	}
}

// messages are the lines that an error has to say.
func messages(err error) []string {
	text := err.Error()
	if all, is := err.(interface{ Unwrap() []error }); is {
		var lines, texts []string
		for _, each := range all.Unwrap() {
			lines, texts = append(lines, messages(each)...), append(texts, each.Error())
		}
		if strings.Join(texts, "\n") == text {
			return lines
		}
	}
	if shown, is := err.(*sim.Stacked); is {
		return append([]string{story.Visible(shown.Err.Error())}, stackLines(shown.Stacks)...)
	}
	inner := errors.Unwrap(err)
	if inner == nil || inner.Error() == "" || !strings.Contains(text, inner.Error()) {
		return []string{story.Visible(text)}
	}
	before, after, _ := strings.Cut(text, inner.Error())
	lines := messages(inner)
	lines[0] = story.Visible(before) + lines[0]
	lines[len(lines)-1] += story.Visible(after)
	return lines
}

// stackLines are lines of stacks, and of what a lock said when it panicked.
func stackLines(stacks string) []string {
	var lines []string
	for line := range strings.Lines(stacks) {
		line = strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", "  ")
		lines = append(lines, story.Visible(line))
	}
	return lines
}
