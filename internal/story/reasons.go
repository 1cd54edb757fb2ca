package story

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
)

// A Renderer writes reasons and measures as sentences. A reason is a code with arguments;
// the renderers differ in how they format times and tokens.
type Renderer struct {
	time  func(time.Duration) string
	token func(checks.Token) string
}

var (
	// ForTimeline formats times and tokens as the timeline does, because a reader looks for
	// them there.
	ForTimeline = Renderer{Time, func(t checks.Token) string { return Token(uint64(t)) }}
	// ForDurations is for reasons whose times are durations, and not moments of the run.
	ForDurations = Renderer{Span, ForTimeline.token}
	// ForPrograms formats times to the nanosecond and tokens with all digits.
	ForPrograms = Renderer{time.Duration.String, func(t checks.Token) string { return strconv.FormatUint(uint64(t), 10) }}
)

// Reason renders a reason in English, without a full stop.
func (v Renderer) Reason(r checks.Reason) string { return v.write(r, reasonSentences[r.Code]) }

// Reasons renders each reason; it returns nil if there are none.
func (v Renderer) Reasons(reasons []checks.Reason) []string {
	var sentences []string
	for _, r := range reasons {
		sentences = append(sentences, v.Reason(r))
	}
	return sentences
}

// Measure renders a measure of a run, such as "median 1.2s, longest 3.4s".
func (v Renderer) Measure(m checks.Measure) string {
	if len(m.Figures) == 0 {
		return "n/a: " + v.Reason(m.Summary)
	}
	return v.Reason(m.Summary)
}

// renderCapitalized renders a reason for the beginning of a sentence. The first letter is a
// capital, unless the sentence begins with a name.
func (v Renderer) renderCapitalized(r checks.Reason) string {
	format := reasonSentences[r.Code]
	if format != "" {
		format = strings.ToUpper(format[:1]) + format[1:]
	}
	return v.write(r, format)
}

// renderDoubt renders the reason why a run is inconclusive, after the words "The run is
// inconclusive: ". It does not repeat these words if the reason itself begins with them.
func (v Renderer) renderDoubt(r checks.Reason) string {
	const saysSo = "the run is inconclusive: "
	if strings.HasPrefix(reasonSentences[r.Code], saysSo) {
		return v.renderCapitalized(r)
	}
	return "The run is inconclusive: " + v.Reason(r)
}

// write fills the arguments of a reason into a format. Then it appends the further reasons that
// belong to the reason (its field More).
func (v Renderer) write(r checks.Reason, format string) string {
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
		if !continuesPrevious(reasonSentences[more.Code]) {
			s += "; "
		}
		s += v.Reason(more)
	}
	return s
}

// continuesPrevious reports whether a reason's sentence is written after the one before it
// without a semicolon.
func continuesPrevious(sentence string) bool {
	return sentence != "" && strings.ContainsRune(" :,", rune(sentence[0]))
}

// RenderReasons renders reasons for the timeline, joined by semicolons.
func RenderReasons(reasons ...checks.Reason) Raw {
	return Raw(strings.Join(ForTimeline.Reasons(reasons), "; "))
}

// Sentence makes a sentence of words: it adds a capital letter and a full stop.
func Sentence(words string) Raw {
	if words != "" && 'a' <= words[0] && words[0] <= 'z' {
		words = string(words[0]-'a'+'A') + words[1:]
	}
	return Raw(fullStop(words))
}

// fullStop ends a text with exactly one full stop.
func fullStop(text string) string { return strings.TrimRight(text, ".") + "." }
