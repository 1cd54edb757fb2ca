package story

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/locksim/locksim/internal/lazy"
)

var harmless = lazy.Regexp(`^[A-Za-z0-9_./:=@%+,-]+$`)

// ShellWord writes s so that a POSIX shell takes it as one word. What does not print is written
// as printf understands it. What ends with a line break cannot be written in one line, and
// is only shown: such a name has to be typed by hand.
func ShellWord(s string) string {
	quoted := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	switch {
	case harmless().MatchString(s):
		return s
	case Prints(s):
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
		case Prints(s[:size]):
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
