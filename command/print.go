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

// printLine prints one line for people, usually on standard error. It escapes everything
// that is not printable. File names can contain anything, and must not be able to control
// the terminal or to look like a command to a CI system.
func printLine(w io.Writer, format string, args ...any) error {
	_, err := fmt.Fprintln(w, reports.DefuseCommands(story.Visible(fmt.Sprintf(format, args...))))
	return err
}

// printError prints an error. Joined errors get a line each, and so do the stacks of a lock
// that misbehaves. Any other line break comes from a name, and is escaped.
func printError(w io.Writer, err error) {
	for _, line := range errorLines(err) {
		printLine(w, "%s", line)
	}
}

// errorLines returns the lines of an error.
func errorLines(err error) []string {
	text := err.Error()
	if all, is := err.(interface{ Unwrap() []error }); is {
		var lines, texts []string
		for _, each := range all.Unwrap() {
			lines, texts = append(lines, errorLines(each)...), append(texts, each.Error())
		}
		if strings.Join(texts, "\n") == text {
			return lines
		}
	}
	if shown, is := err.(*sim.ErrorWithStacks); is {
		return append([]string{story.Visible(shown.Err.Error())}, stackLines(shown.Stacks)...)
	}
	inner := errors.Unwrap(err)
	if inner == nil || inner.Error() == "" || !strings.Contains(text, inner.Error()) {
		return []string{story.Visible(text)}
	}
	before, after, _ := strings.Cut(text, inner.Error())
	lines := errorLines(inner)
	lines[0] = story.Visible(before) + lines[0]
	lines[len(lines)-1] += story.Visible(after)
	return lines
}

// stackLines returns the lines of the stacks and of the message of a lock that panicked.
func stackLines(stacks string) []string {
	var lines []string
	for line := range strings.Lines(stacks) {
		line = strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", "  ")
		lines = append(lines, story.Visible(line))
	}
	return lines
}
