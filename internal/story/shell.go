package story

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/locksim/locksim/internal/lazy"
)

// harmless matches words that a shell does not change.
var harmless = lazy.Regexp(`^[A-Za-z0-9_./:=@%+,-]+$`)

// ShellWord quotes s so that a POSIX shell reads it as one word. It writes unprintable characters
// as escapes for printf. A string that ends with a line break cannot be written in this way. For
// it, ShellWord returns a readable form that the user has to type by hand.
func ShellWord(s string) string {
	quoted := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	switch {
	case harmless().MatchString(s):
		return s
	case IsPrintable(s):
		return quoted(s)
	case strings.HasSuffix(s, "\n"):
		return quoted(Visible(s))
	}
	var format strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == '%':
			format.WriteString("%%")
		case r == '\\':
			format.WriteString(`\\`)
		case IsPrintable(s[:size]):
			format.WriteRune(r)
		default:
			for _, b := range []byte(s[:size]) {
				fmt.Fprintf(&format, `\%03o`, b)
			}
		}
		s = s[size:]
	}
	return `"$(printf ` + quoted(format.String()) + `)"`
}
