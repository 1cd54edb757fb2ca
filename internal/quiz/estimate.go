package quiz

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/lazy"
	"github.com/locksim/locksim/internal/story"
)

// A Unit says whether an estimate is a time or a number.
type Unit int

const (
	// Times are moments or durations, in nanoseconds.
	Times Unit = iota
	// Numbers are plain numbers.
	Numbers
)

// An Estimate is the right answer to a question that asks for a number or a time. A forecast is
// right if it differs from the value by at most the tolerance.
type Estimate struct {
	Unit             Unit
	Value, Tolerance time.Duration
	// Rule says in words how large the tolerance is. It does not say the tolerance itself, which
	// would give the answer away.
	Rule string
	// AllowsNever says that "never" is a possible answer, and IsNever that it is the right answer.
	AllowsNever, IsNever bool
	// tempting is a wrong number that many people give; nil if there is none.
	tempting *guess
}

// A guess is an answer that somebody can give: a number or a time, or "never".
type guess struct {
	value   time.Duration
	isNever bool
}

// accepts reports whether a guess is right.
func (e *Estimate) accepts(g guess) bool {
	if e.IsNever || g.isNever {
		return e.IsNever == g.isNever
	}
	return (g.value - e.Value).Abs() <= e.Tolerance
}

// text returns a guess in the words of an answer.
func (e *Estimate) text(g guess) string {
	switch {
	case g.isNever:
		return "never"
	case e.Unit == Numbers:
		return story.Thousands(int(g.value))
	}
	return story.Time(g.value)
}

// answer returns the right answer.
func (e *Estimate) answer() string { return e.text(guess{e.Value, e.IsNever}) }

// parse reads a guess.
func (e *Estimate) parse(text string) (guess, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	if e.AllowsNever && slices.Contains([]string{"never", "n", "nobody"}, text) {
		return guess{isNever: true}, nil
	}
	if e.Unit == Numbers && thousandsPattern().MatchString(text) {
		text = strings.ReplaceAll(text, ",", "")
	}
	if strings.Contains(text, ",") {
		return guess{}, errors.New(e.expected() + "; decimals come after a point, as in 8.5, and not after a comma")
	}
	if n, err := strconv.ParseFloat(text, 64); err == nil && n >= 0 && n < 1e9 {
		if e.Unit == Times {
			return guess{value: time.Duration(n * float64(time.Second))}, nil
		}
		if whole := time.Duration(n); float64(whole) == n {
			return guess{value: whole}, nil
		}
	}
	if e.Unit == Times {
		if d, err := time.ParseDuration(strings.ReplaceAll(text, " ", "")); err == nil && d >= 0 {
			return guess{value: d}, nil
		}
	}
	return guess{}, errors.New(e.expected())
}

// A thousandsPattern matches a number with a comma after each group of three digits.
var thousandsPattern = lazy.Regexp(`^[0-9]{1,3}(,[0-9]{3})+$`)

// expected says in words what can be given as an answer.
func (e *Estimate) expected() string {
	switch {
	case e.Unit == Numbers:
		return "a whole number, such as 100"
	case e.AllowsNever:
		return "a time, such as 12s or 1m30s, or the word never"
	}
	return "a time, such as 12s or 150ms"
}

// choices returns the answers among which a class can vote, in ascending order: the right
// one, the tempting one, and others that are clearly wrong. The place of the right answer is
// computed from its value, so that it differs from question to question.
func (e *Estimate) choices() []Choice {
	const many = 4
	value := e.Value
	if e.IsNever {
		value = 10 * time.Second
	}
	place := int(value/time.Millisecond+value) % many
	var wrong []time.Duration
	for i := range many {
		d := e.rounded(scale(value, i-place))
		if !e.accepts(guess{value: d}) && !slices.Contains(wrong, d) {
			wrong = append(wrong, d)
		}
	}
	if t := e.tempting; t != nil && !t.isNever && !slices.Contains(wrong, t.value) {
		// The tempting answer replaces the wrong one that is farthest from the right one.
		slices.SortStableFunc(wrong, func(a, b time.Duration) int { return cmp.Compare((b - value).Abs(), (a - value).Abs()) })
		wrong[0] = t.value
	}
	offered := wrong
	if !e.IsNever {
		offered = append(offered, e.offeredValue(wrong))
	}
	slices.Sort(offered)
	var all []Choice
	for _, d := range offered {
		g := guess{value: d}
		all = append(all, Choice{Text: "about " + e.text(g), IsRight: e.accepts(g)})
	}
	if e.AllowsNever {
		all = append(all, Choice{Text: "never", IsRight: e.IsNever})
	}
	return all
}

// offeredValue returns the right answer, rounded. It returns the exact value if a wrong answer
// would be as near to it as the rounded one, or if the rounded one is not right.
func (e *Estimate) offeredValue(wrong []time.Duration) time.Duration {
	d := e.rounded(e.Value)
	isNearer := func(w time.Duration) bool { return (w - e.Value).Abs() <= (d - e.Value).Abs() }
	if !e.accepts(guess{value: d}) || slices.ContainsFunc(wrong, isNearer) {
		return e.Value
	}
	return d
}

// scale doubles a value n times, or halves it if n is negative.
func scale(d time.Duration, n int) time.Duration {
	if n < 0 {
		return d >> -n
	}
	return d << n
}

// rounded returns a value rounded so that it has about two digits.
func (e *Estimate) rounded(d time.Duration) time.Duration {
	grain := time.Duration(1)
	for d/grain >= 100 {
		grain *= 10
	}
	return d.Round(grain)
}

// String describes the estimate for errors in tests.
func (e *Estimate) String() string {
	return fmt.Sprintf("%s ± %v", e.answer(), e.Tolerance)
}
