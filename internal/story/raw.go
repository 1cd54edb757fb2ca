package story

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Raw is text with names, keys and errors as they are in a trace. They come from
// scenarios and from locks under test, and none of them may write on a reader's terminal
// what it likes. So whoever writes a Raw as package fmt or a template does writes
// [Raw.String]; only a conversion to a string gives it as it is, to compare it or to look
// something up.
type Raw string

// String is the text as it can be shown: see [Visible].
func (r Raw) String() string { return Visible(string(r)) }

// Visible returns s as one line, with everything that does not print as itself written as a
// Go escape: control characters, line breaks, terminal sequences, marks that
// change the direction of writing, bytes that are not UTF-8.
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
