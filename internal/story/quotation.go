package story

import (
	"strconv"
	"time"

	"github.com/locksim/locksim/internal/lazy"
)

// Quoted is what a trace has of somebody else's text: the error of a lock or of a
// library, what a server answers, why a storage refuses. Whoever wrote it had times and
// tokens as they are. Here, and nowhere else, they are written as in the rest of a story,
// so that one finds them there. What this project says itself it says with values.
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

// regardless is the same for two quotations that differ in times alone.
func regardless(text string) string { return preciseTime().ReplaceAllString(Quoted(text), "") }

var (
	preciseTime = lazy.Regexp(`\b([0-9]+h)?([0-9]+m)?[0-9]+(\.[0-9]+)?(ns|µs|ms|s)\b`)
	longNumber  = lazy.Regexp(`\b[0-9]{11,20}\b`)
)
