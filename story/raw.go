package story

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible returns s as one line, with everything that does not print as itself written
// as a Go escape: control characters, line breaks, terminal sequences, marks that
// change the direction of writing, bytes that are not UTF-8. Names, keys and
// error texts come from scenarios and from locks under test, and none of them
// may write on the reader's terminal what it likes.
func Visible(s string) string {
	if Prints(s) {
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

// Prints reports whether all of s prints as itself.
func Prints(s string) bool {
	for _, r := range s {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}
