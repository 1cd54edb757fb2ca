package story

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Raw is text that contains names, keys and errors unchanged from a trace. They come from
// scenarios and from locks under test, and must not be able to control a reader's terminal.
// Package fmt writes a Raw by its String method, which escapes it. To compare it or look it
// up, convert it to a string, which escapes nothing.
type Raw string

// String returns the text escaped for display: see [Visible].
func (r Raw) String() string { return Visible(string(r)) }

// Visible returns s as one line. It writes everything that is not printable as a Go escape:
// control characters, line breaks, terminal sequences, marks that change the direction of
// writing, and bytes that are not UTF-8.
func Visible(s string) string {
	if IsPrintable(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			b.WriteString(`\x`)
			b.WriteString(strconv.FormatUint(uint64(s[0])|0x100, 16)[1:])
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			q := strconv.QuoteRuneToASCII(r)
			b.WriteString(q[1 : len(q)-1])
		}
		s = s[size:]
	}
	return b.String()
}

// IsPrintable reports whether every character of s is printable.
func IsPrintable(s string) bool {
	for _, r := range s {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}
