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
	// Path is where in the file's structure the problem is, as in
	// "clients.client-2.starts". Items of a list count from 1, as faults do in a
	// trace. It is empty for the file as a whole.
	Path string
	// Message says what is wrong.
	Message string
	// Hint says what was probably meant or what to do, if that is known.
	Hint string
}

// Error is the problem on one line: file, line, path, message and hint.
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

// maxErrors bounds how many problems of one file are told: who has mended ten
// can ask again.
const maxErrors = 10

// To find what was meant takes long, and only the first problems by line are told: so
// few of a file get a hint that is looked for, and not all are even recorded.
const (
	maxHints    = 3 * maxErrors
	maxRecorded = 30 * maxErrors
)

// Error is one line for each problem.
func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives errors.As and errors.Is the single problems.
func (es Errors) Unwrap() []error {
	errs := make([]error, len(es))
	for i, e := range es {
		errs[i] = e
	}
	return errs
}

// tidied sorts the problems by place, drops those that several variants share
// and cuts off after maxErrors.
func (es Errors) tidied() Errors {
	slices.SortStableFunc(es, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	var out Errors
	for _, e := range es {
		same := func(o *Error) bool { return *o == *e }
		if len(out) < maxErrors && !slices.ContainsFunc(out, same) {
			out = append(out, e)
		}
	}
	return out
}

// oneLine makes line breaks and other control characters harmless.
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

// quoted is a value from the file as a message shows it: in quotes, on one line
// and not too long.
func quoted(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return quotedWhole(s)
}

// quotedWhole is a text of a bounded length, to be copied from a message.
func quotedWhole(s string) string { return `"` + oneLine(s) + `"` }
