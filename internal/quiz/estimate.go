package quiz

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/story"
)

// A Unit is what an estimate counts.
type Unit int

const (
	// Times are moments or durations, in nanoseconds.
	Times Unit = iota
	// Numbers are plain numbers.
	Numbers
)

// An Estimate is a right answer that is a number. A forecast is right if it differs from the
// value by at most the tolerance.
type Estimate struct {
	Unit             Unit
	Value, Tolerance time.Duration
	// Rule says in words how large the tolerance is. It does not say the tolerance itself, which
	// would give the answer away.
	Rule string
	// AllowsNever says that never is a possible answer, and IsNever that it is the right one.
	AllowsNever, IsNever bool
}

// A guess is a number that somebody has given as an answer.
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
	plain := strings.ReplaceAll(text, ",", "")
	if n, err := strconv.ParseFloat(plain, 64); err == nil && n >= 0 && n < 1e9 {
		if e.Unit == Numbers {
			return guess{value: time.Duration(n)}, nil
		}
		return guess{value: time.Duration(n * float64(time.Second))}, nil
	}
	if e.Unit == Times {
		if d, err := time.ParseDuration(strings.ReplaceAll(plain, " ", "")); err == nil && d >= 0 {
			return guess{value: d}, nil
		}
	}
	return guess{}, errors.New(e.expected())
}

// expected says what can be answered.
func (e *Estimate) expected() string {
	switch {
	case e.Unit == Numbers:
		return "a number, such as 100"
	case e.AllowsNever:
		return "a time, such as 12s or 1m30s, or the word never"
	}
	return "a time, such as 12s or 150ms"
}

// choices returns answers to choose from instead of a number, for votes: the right one, and
// others that are clearly wrong. The place of the right one follows from the value.
func (e *Estimate) choices() []Choice {
	const many = 4
	var all []Choice
	add := func(g guess) {
		all = append(all, Choice{Text: "about " + e.text(g), IsRight: e.accepts(g)})
	}
	value := e.Value
	if e.IsNever {
		value = 10 * time.Second
	}
	place := int(value/time.Millisecond+value) % many
	for i := range many {
		add(guess{value: e.rounded(scale(value, i-place))})
	}
	all = slices.CompactFunc(all, func(a, b Choice) bool { return a.Text == b.Text })
	if e.AllowsNever {
		all = append(all, Choice{Text: "never", IsRight: e.IsNever})
	}
	return all
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
