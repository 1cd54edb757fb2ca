package scenarios

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Error is one problem of a scenario file.
type Error struct {
	// File is the file's name as it was given to [Parse].
	File string
	// Line and Column are counted from 1; Line is 0 if the problem is about the whole file.
	Line, Column int
	// Path is the place in the file's structure, such as "clients.client-2.starts" or
	// "faults[1]". The items of a list are counted from 1. It is "" if the problem is about
	// the whole file.
	Path string
	// Message says what is wrong.
	Message string
	// Hint says what was probably meant or what to do; it can be "".
	Hint string
}

// Error returns the problem as one line: file, line, path, message and hint.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	b.WriteString(": ")
	if e.Path != "" {
		b.WriteString(e.Path + ": ")
	}
	b.WriteString(e.Message)
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	return oneLine(b.String())
}

// Errors are the problems of one scenario file, in the order of its lines.
type Errors []*Error

// maxErrors is how many problems of a file are reported. After correcting ten, the author can run
// the program again.
const maxErrors = 10

// Only the first problems are reported, in the order of the lines, and finding a hint takes
// long. So at most maxHints problems of a file get a hint, and at most maxRecorded are
// recorded.
const (
	maxHints    = 3 * maxErrors
	maxRecorded = 30 * maxErrors
)

// Error returns one line for each problem.
func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the problems one by one, for errors.As and errors.Is.
func (es Errors) Unwrap() []error {
	errs := make([]error, len(es))
	for i, e := range es {
		errs[i] = e
	}
	return errs
}

// summarize sorts the problems by their place in the file, drops repetitions and keeps the
// first maxErrors. Repetitions arise because variants share parts of the file.
func (es Errors) summarize() Errors {
	slices.SortStableFunc(es, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	var out Errors
	for _, e := range es {
		isEqual := func(o *Error) bool { return *o == *e }
		if len(out) < maxErrors && !slices.ContainsFunc(out, isEqual) {
			out = append(out, e)
		}
	}
	return out
}

// oneLine replaces line breaks and other control characters, so that a text from a file
// fits on one line.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), !unicode.IsGraphic(r):
			return '\uFFFD'
		}
		return r
	}, s)
}

// quote returns a value from the file as a message shows it: in quotes, on one line and
// shortened if it is long.
func quote(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return quoteWhole(s)
}

// quoteWhole is quote without shortening, for a text that the reader may want to copy.
func quoteWhole(s string) string { return `"` + oneLine(s) + `"` }
