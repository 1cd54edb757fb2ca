package scenarios

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/locksim/locksim/internal/lazy"
	"github.com/locksim/locksim/trace"
)

// A corrector finds what was meant by a misspelt point, such as "client-1 acquired", or by a
// misspelt step, message or witness. It compares the text with every form of the grammar, with the
// names of the scenario filled in. It knows synonyms of the grammar's words.
type corrector struct {
	names []string // of all processes, clients first
	role  func(name string) (trace.Role, bool)
}

// maxSpelledLength is the length in bytes of the longest text that the speller reads. A
// longer text is not a misspelt point.
const maxSpelledLength = 300

// hint returns a hint with the correction of a text that is not valid, or "" if there is no
// correction. mend corrects a text. parse checks the correction, so that no invalid one is
// suggested.
func (s corrector) hint(text string, mend func(string) string, parse func(string) error) string {
	if len(text) > maxSpelledLength || len(s.names) == 0 {
		return ""
	}
	if near := mend(text); near != "" && near != text && parse(near) == nil {
		return "did you mean " + quoteWhole(near) + "?"
	}
	return ""
}

// point, and the three methods after it, return a hint for a text of one type.
func (s corrector) point(text string) string {
	return s.hint(text, s.mendPoint, s.checkPoint)
}

func (s corrector) step(text string) string {
	return s.hint(text, s.mendStep, func(near string) error { _, err := trace.ParseStepPoint(near); return err })
}

func (s corrector) message(text string) string {
	return s.hint(text, s.mendMessage, func(near string) error { _, err := trace.ParseMessage(beforeComma(near)); return err })
}

func (s corrector) witness(text string) string {
	return s.hint(text, s.mendWitness, func(near string) error {
		w, err := trace.ParseWitness(near)
		if err == nil {
			err = w.Fits(s.role)
		}
		return err
	})
}

// checkPoint returns an error if the text is not a valid point of the scenario.
func (s corrector) checkPoint(text string) error {
	p, err := trace.ParsePoint(text)
	if err == nil {
		err = p.Fits(s.role)
	}
	if err == nil && slices.ContainsFunc(p.Names(), func(n string) bool { return !slices.Contains(s.names, n) }) {
		err = errors.New("it names nobody")
	}
	return err
}

// beforeComma returns the text without a number of times, such as ", 2nd time".
func beforeComma(text string) string {
	head, _, _ := strings.Cut(text, ", ")
	return head
}

// mendPoint corrects every alternative of a point.
func (s corrector) mendPoint(text string) string {
	var parts []string
	for part := range strings.SplitSeq(strings.Join(strings.Fields(text), " "), " or ") {
		if s.checkPoint(part) != nil {
			if part = s.mendAlternative(part); part == "" {
				return ""
			}
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " or ")
}

// mendAlternative corrects one alternative of a point: its delay, its number of times, and the
// happening between them. It returns "" if it finds no correction.
func (s corrector) mendAlternative(text string) string {
	delay, text := splitDelay(text)
	text, nth := splitNth(text)
	core := s.nearestForm(text, trace.PointForms())
	if core == "" {
		return ""
	}
	return delay + core + nth
}

// mendStep corrects a client's step, and mendMessage a message.
func (s corrector) mendStep(text string) string { return s.mendCounted(text, trace.StepForms()) }

func (s corrector) mendMessage(text string) string { return s.mendCounted(text, trace.MessageForms()) }

// mendCounted corrects a text that may end with a number of times.
func (s corrector) mendCounted(text string, forms []string) string {
	text, nth := splitNth(text)
	if core := s.nearestForm(text, forms); core != "" {
		return core + nth
	}
	return ""
}

// mendWitness corrects the points of a witness and the word that joins them. It drops a delay,
// because the points of a witness cannot have one.
func (s corrector) mendWitness(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	for _, during := range []string{" while ", " during ", " when "} {
		if head, tail, ok := strings.Cut(text, during); ok {
			head, tail = s.mendPoint(head), s.nearestForm(tail, []string{"PROCESS was paused", "PROCESS was down"})
			if head == "" || tail == "" {
				return ""
			}
			return head + " while " + tail
		}
	}
	if delay, rest := splitDelay(text); delay != "" {
		return s.mendPoint(rest)
	}
	for _, order := range []string{" before ", " after "} {
		if head, tail, ok := strings.Cut(text, order); ok {
			head, tail = s.mendPoint(head), s.mendPoint(tail)
			if head == "" || tail == "" {
				return ""
			}
			return head + order + tail
		}
	}
	return s.mendPoint(text)
}

const (
	numberPattern  = `[0-9]+(?:\.[0-9]+)?`
	lengthPattern  = numberPattern + `(?: ?(?:nanoseconds?|nanos|nsecs?|ns|microseconds?|micros|usecs?|us|µs|milliseconds?|millis|msecs?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h))?`
	lengthsPattern = lengthPattern + `(?:(?: and | ?)` + lengthPattern + `)*`
)

var (
	// Matches a delay before the point. It may lack its unit or the word "after", or
	// express them in other words.
	leadingDelay  = lazy.Regexp(`^(?:after )?(` + lengthsPattern + `) (?:(?:after|later than|past|from|following) )?(.+)$`)
	trailingDelay = lazy.Regexp(`^(.+?) ?(?:\+|plus) ?(` + lengthsPattern + `)$`)
	// Matches a number of times after the point. It may lack its comma, its ending or the
	// word "time", or be a word.
	trailingCount  = lazy.Regexp(`^(.+?)(?:, ?| )(?:for )?(?:the )?(?:([0-9]+)(?:(?:st|nd|rd|th)(?: times?)?| times?)|(` + strings.Join(ordinals, "|") + `)(?: times?)?)$`)
	trailingNumber = lazy.Regexp(`^(.+?), ?([0-9]+)()$`)
)

// splitDelay separates a delay from the rest of a text. It returns the delay corrected, as
// in "5s after "; "" if there is none.
func splitDelay(text string) (delay, rest string) {
	m := leadingDelay().FindStringSubmatch(text)
	if t := trailingDelay().FindStringSubmatch(text); t != nil {
		m = []string{"", t[2], t[1]}
	}
	if m == nil {
		return "", text
	}
	d := mendDuration(m[1])
	if d == "" {
		return "", text
	}
	return d + " after ", m[2]
}

// ordinals are words for a number of times. The first five are the words for one to five; then come
// other words for one to three.
var ordinals = []string{"first", "second", "third", "fourth", "fifth", "once", "twice", "thrice"}

// splitNth separates a number of times from the rest of a text. It returns the number
// corrected, as in ", 2nd time"; "" if there is none.
func splitNth(text string) (rest, nth string) {
	m := trailingCount().FindStringSubmatch(text)
	if m == nil {
		m = trailingNumber().FindStringSubmatch(text)
	}
	if m == nil {
		return text, ""
	}
	n, _ := strconv.Atoi(m[2])
	if i := slices.Index(ordinals, m[3]); i >= 0 {
		n = i%5 + 1 // once is the first time
	}
	if n < 1 {
		return text, ""
	}
	return m[1], ", " + trace.NthTime(n)
}

var (
	allLengths = lazy.Regexp(`^` + lengthsPattern + `$`)
	oneLength  = lazy.Regexp(`(` + numberPattern + `) ?([a-zµ]*)`)
)

// mendDuration returns a duration in its correct spelling; "" if the text is not a
// duration.
func mendDuration(text string) string {
	text = strings.ToLower(strings.TrimSpace(text))
	if !allLengths().MatchString(text) {
		return ""
	}
	var d strings.Builder
	for _, m := range oneLength().FindAllStringSubmatch(text, -1) {
		unit := m[2]
		switch { // the first letter decides, except in words with m and u
		case unit == "":
			unit = "s"
		case unit == "µs", strings.HasPrefix(unit, "mic"), unit[0] == 'u':
			unit = "us"
		case unit == "ms", strings.HasPrefix(unit, "mil"), strings.HasPrefix(unit, "mse"):
			unit = "ms"
		case unit[0] == 'n':
			unit = "ns"
		default:
			unit = unit[:1]
		}
		d.WriteString(m[1] + unit)
	}
	return d.String()
}
