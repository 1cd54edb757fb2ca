package story

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
)

// A Voice is how a reader has the figures of reasons.
type Voice struct {
	time  func(time.Duration) string
	token func(checks.Token) string
}

var (
	// AsTimeline has times and tokens as the timeline has them, so that one finds them there.
	AsTimeline = Voice{Time, func(t checks.Token) string { return Token(uint64(t)) }}
	// InLengths is for what a run took: each time is a length.
	InLengths = Voice{Span, AsTimeline.token}
	// InFull has times to the nanosecond and whole tokens, for programs.
	InFull = Voice{time.Duration.String, func(t checks.Token) string { return strconv.FormatUint(uint64(t), 10) }}
)

// Reason is a reason in English, without a full stop.
func (v Voice) Reason(r checks.Reason) string { return v.write(r, reasonSentences[r.Code]) }

// Reasons is Reason of each; nil if there are none.
func (v Voice) Reasons(reasons []checks.Reason) []string {
	var sentences []string
	for _, r := range reasons {
		sentences = append(sentences, v.Reason(r))
	}
	return sentences
}

// Measure is what a run came to, such as "median 1.2s, longest 3.4s".
func (v Voice) Measure(m checks.Measure) string {
	if len(m.Figures) == 0 {
		return "n/a: " + v.Reason(m.Says)
	}
	return v.Reason(m.Says)
}

// begun is Reason at the beginning of a sentence: with a capital letter, unless a name is
// first.
func (v Voice) begun(r checks.Reason) string {
	format := reasonSentences[r.Code]
	if format != "" {
		format = strings.ToUpper(format[:1]) + format[1:]
	}
	return v.write(r, format)
}

func (v Voice) write(r checks.Reason, format string) string {
	if r.IsZero() {
		return ""
	}
	args := make([]any, len(r.Args))
	for i, arg := range r.Args {
		switch arg := arg.(type) {
		case time.Duration:
			args[i] = v.time(arg)
		case checks.Token:
			args[i] = v.token(arg)
		case checks.Reason:
			args[i] = v.Reason(arg)
		case history.Moment:
			args[i] = arg.String()
			if arg != history.Never {
				args[i] = v.time(arg.At)
			}
		default:
			args[i] = arg
		}
	}
	s := fmt.Sprintf(format, args...)
	for _, more := range r.More {
		if !continues(reasonSentences[more.Code]) {
			s += "; "
		}
		s += v.Reason(more)
	}
	return s
}

// continues says that a sentence goes on with the one before it.
func continues(sentence string) bool {
	return sentence != "" && strings.ContainsRune(" :,", rune(sentence[0]))
}

// Told tells reasons, one after the other.
func Told(reasons ...checks.Reason) Raw { return Raw(strings.Join(AsTimeline.Reasons(reasons), "; ")) }

// Sentence makes one of words that others have: it begins with a capital letter and ends.
func Sentence(words string) Raw {
	if words != "" && 'a' <= words[0] && words[0] <= 'z' {
		words = string(words[0]-'a'+'A') + words[1:]
	}
	return Raw(fullStop(words))
}

// fullStop makes of what is to be said a sentence that ends.
func fullStop(says string) string { return strings.TrimRight(says, ".") + "." }
