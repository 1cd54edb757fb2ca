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
	// Line and Column count from 1; Line is 0 when the problem is the file as a
	// whole.
	Line, Column int
	// Path is the place in the file's structure, as in "clients.client-2.starts". Items of
	// a list count from 1, as faults do in a trace. It is empty for the file as a whole.
	Path string
	// Message says what is wrong.
	Message string
	// Hint is what was probably meant or what to do; it can be empty.
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

// maxErrors limits how many problems of one file are reported. After correcting ten, the
// author can run the program again.
const maxErrors = 10

// Finding what was meant takes long, and only the first problems by line are reported.
// Therefore few problems of a file get a hint, and not all are recorded.
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

// Unwrap returns the single problems, for errors.As and errors.Is.
func (es Errors) Unwrap() []error {
	errs := make([]error, len(es))
	for i, e := range es {
		errs[i] = e
	}
	return errs
}

// summarize sorts the problems by place, drops those that several variants share, and keeps
// the first maxErrors.
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

// oneLine replaces line breaks and other control characters.
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

// quoteWhole is quote without shortening, for texts that are meant to be copied.
func quoteWhole(s string) string { return `"` + oneLine(s) + `"` }
