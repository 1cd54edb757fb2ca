package runs

import (
	"regexp"
	"strings"
)

// varying lists the parts in which two equal stacks of one program can differ: the numbers
// of goroutines and of synctest bubbles, how long they have waited, arguments and offsets,
// and other addresses. Each part is replaced by a fixed text.
var varying = []struct {
	expr *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`\b(goroutine|synctest bubble) \d+`), "$1"},
	{regexp.MustCompile(`, \d+ minutes\b`), ""},
	{regexp.MustCompile(`(?m)\([^()\n]*0x[^()\n]*\)$`), "(...)"},
	{regexp.MustCompile(`(?m) \+0x[0-9a-f]+$`), ""},
	{regexp.MustCompile(`0x[0-9a-f]+`), "0x?"},
}

// stackLines is how many lines of a stack are kept.
const stackLines = 24

// shortStack returns the beginning of the text that the Go runtime prints about a panic or
// about goroutines. It replaces what differs in each run.
func shortStack(text string) string {
	lines := strings.SplitN(text, "\n", stackLines+1)
	text = strings.TrimSpace(strings.Join(lines[:min(len(lines), stackLines)], "\n"))
	for _, a := range varying {
		text = a.expr.ReplaceAllString(text, a.with)
	}
	return text
}
