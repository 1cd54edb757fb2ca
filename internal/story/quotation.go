package story

import (
	"strconv"
	"time"

	"github.com/locksim/locksim/internal/lazy"
)

// Quoted formats text of a trace that comes from outside: the error of a lock or library, a
// server's answer, the storage's reason to refuse. It rewrites precise times and long tokens in
// the way in which the timeline writes them, because a reader looks for them there. The project's
// own sentences need not be rewritten, because their times and tokens are arguments.
func Quoted(text string) string {
	text = preciseTime().ReplaceAllStringFunc(text, func(found string) string {
		d, err := time.ParseDuration(found)
		if err != nil {
			return found
		}
		return Time(d)
	})
	return longNumber().ReplaceAllStringFunc(text, func(found string) string {
		t, err := strconv.ParseUint(found, 10, 64)
		if err != nil {
			return found
		}
		return Token(t)
	})
}

// withoutTimes removes the times from a quotation, so that two quotations that differ only
// in times are equal.
func withoutTimes(text string) string { return preciseTime().ReplaceAllString(Quoted(text), "") }

var (
	// preciseTime matches a duration, and longNumber a number that may be a token.
	preciseTime = lazy.Regexp(`\b([0-9]+h)?([0-9]+m)?[0-9]+(\.[0-9]+)?(ns|µs|ms|s)\b`)
	longNumber  = lazy.Regexp(`\b[0-9]{11,20}\b`)
)
