package trace

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Point is a condition in the course of a run, such as "client-1's keys expired" or "5s after
// client-1 acquired". It consists of alternatives, each an [Alternative], and is reached each time
// one of its alternatives is reached. The zero Point means that there is no point. Points are
// values: [At] and [AnyOf] make them, and [ParsePoint] parses what String returns.
//
// The grammar, in which CLIENT, NODE and PROCESS are placeholders for names:
//
//	CLIENT asked | acquired | failed to acquire | minted | marked | read | worked
//	CLIENT checked | wrote | extended | released | cancelled | was refused | gave up
//	CLIENT finished
//	CLIENT holds NODE
//	CLIENT's keys expired
//	CLIENT's key expired on NODE
//	storage applied | refused | checked CLIENT's STEP
//	PROCESS paused | resumed | crashed | restarted | synced | was promoted
//	NODE became leader | compacted
//	CLIENT was notified
//	CLIENT's session expired
//	PROCESS's clock jumped
//	MESSAGE is in flight | MESSAGE arrived
//	every reply to CLIENT's STEP is in flight | every request of CLIENT's STEP arrived
//	the start
//	after STEP OF A CLIENT
//	POINT, 2nd time
//	DURATION after POINT
//	POINT or POINT
//
// A MESSAGE is written as for [ParseMessage], a STEP OF A CLIENT as for [ParseStepPoint].
// Package history decides when a point is reached.
type Point struct{ alternatives []Alternative }

// An Alternative is one alternative of a point: a happening, which of its occurrences is meant, and
// a delay.
type Alternative struct {
	// Delay is how long after the happening the point is reached, in true time.
	Delay time.Duration
	// Nth says which occurrence of the happening is meant, from 1; 0 means each of them.
	Nth int
	Happening
}

// At returns the point that is reached each time something happens.
func At(h Happening) Point { return AnyOf(Alternative{Happening: h}) }

// AnyOf returns the point that is reached each time one of the alternatives is reached.
func AnyOf(alternatives ...Alternative) Point { return Point{slices.Clone(alternatives)} }

// IsZero reports whether p is the zero Point, which means that there is no point.
func (p Point) IsZero() bool { return len(p.alternatives) == 0 }

// Alternatives returns the alternatives, in the order in which they are written.
func (p Point) Alternatives() []Alternative { return slices.Clone(p.alternatives) }

// Equal reports whether two points are the same.
func (p Point) Equal(o Point) bool { return slices.Equal(p.alternatives, o.alternatives) }

// String returns the point in the grammar of [Point].
func (p Point) String() string {
	words := make([]string, len(p.alternatives))
	for i, c := range p.alternatives {
		words[i] = c.text()
	}
	return strings.Join(words, " or ")
}

// text returns the alternative in the grammar of [Point].
func (a Alternative) text() string {
	s := a.Happening.text()
	if a.Nth > 0 {
		s += ", " + NthTime(a.Nth)
	}
	switch _, step := a.Happening.(StepEnded); {
	case step && a.Delay > 0:
		return ShortDuration(a.Delay) + " " + s
	case a.Delay > 0:
		return ShortDuration(a.Delay) + " after " + s
	}
	return s
}

// ShortDuration formats a duration without units that are zero: 31s, 1m, 1h.
func ShortDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Phrase returns the point as an adverbial phrase: "when client-1 wrote", "5s after
// client-1 wrote".
func (p Point) Phrase() string {
	if p.IsZero() {
		return ""
	}
	if _, step := p.alternatives[0].Happening.(StepEnded); step || p.alternatives[0].Delay > 0 {
		return p.String()
	}
	return "when " + p.String()
}

// MarshalText returns what String returns.
func (p Point) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText parses a point. Empty text gives the zero Point.
func (p *Point) UnmarshalText(text []byte) (err error) {
	*p = Point{}
	if len(text) > 0 {
		*p, err = ParsePoint(string(text))
	}
	return err
}

// Names lists the processes that the point names.
func (p Point) Names() []string {
	var names []string
	for _, c := range p.alternatives {
		for _, part := range c.participants() {
			names = append(names, part.name)
		}
	}
	return names
}

// Rename returns the point with its processes renamed.
func (p Point) Rename(name func(string) string) Point {
	alternatives := p.Alternatives()
	for i, c := range alternatives {
		alternatives[i].Happening = c.rename(name)
	}
	return Point{alternatives}
}

// Fits returns an error if the point names a process for something that this process can never do:
// only clients write, for example, and only nodes are promoted. role returns the role of a process.
// It returns false if it does not know the process, and such a process always fits.
func (p Point) Fits(role func(name string) (Role, bool)) error {
	for _, c := range p.alternatives {
		for _, part := range c.participants() {
			r, known := role(part.name)
			if known && len(part.roles) > 0 && !slices.Contains(part.roles, r) {
				return fmt.Errorf("%q can never happen: %s is not a %s", p, part.name, strings.Join(toStrings(part.roles...), " or "))
			}
		}
	}
	return nil
}

// ParsePoint parses a point; its grammar is that of [Point].
func ParsePoint(s string) (Point, error) {
	text := strings.Join(strings.Fields(s), " ")
	if text == "" {
		return Point{}, fmt.Errorf("the point is empty")
	}
	var p Point
	for alternative := range strings.SplitSeq(text, " or ") {
		c, err := parseAlternative(alternative)
		if err != nil {
			return Point{}, err
		}
		p.alternatives = append(p.alternatives, c)
	}
	return p, nil
}

// parseAlternative parses one alternative of a point.
func parseAlternative(s string) (Alternative, error) {
	var c Alternative
	if rest, ok := strings.CutPrefix(s, "after "); ok {
		step, err := ParseStepPoint(rest)
		if err != nil {
			return c, newParseError(s, "is not a point", `write a duration such as 5s before "after", or a step such as "client-1 write" after it`)
		}
		return step.endAlternative(), nil
	}
	if d, rest, ok := strings.Cut(s, " after "); ok {
		delay, err := time.ParseDuration(d)
		if err != nil || delay < 0 {
			return c, fmt.Errorf("%q: write a duration such as 5s before \"after\", not %q", s, d)
		}
		c.Delay = delay
		if step, err := ParseStepPoint(rest); err == nil && delay > 0 {
			c = step.endAlternative()
			c.Delay = delay
			return c, nil
		}
		s = rest
	}
	s, nth, err := parseNth(s)
	if err != nil {
		return c, err
	}
	c.Nth = nth
	c.Happening, err = parseHappening(s)
	if _, ok := c.Happening.(Start); ok && nth > 0 {
		err = fmt.Errorf("%q: there is only one start", s)
	}
	return c, err
}

// parseNth separates an ending such as ", 2nd time" from the rest. It returns the rest and
// the number, or 0 if there is no such ending.
func parseNth(s string) (string, int, error) {
	head, tail, ok := strings.Cut(s, ", ")
	if !ok {
		return s, 0, nil
	}
	number, isTime := strings.CutSuffix(tail, " time")
	if isTime && len(number) > 2 {
		for _, suffix := range []string{"st", "nd", "rd", "th"} {
			if digits, ok := strings.CutSuffix(number, suffix); ok {
				if n, err := strconv.Atoi(digits); err == nil && n > 0 && n < 1_000_000 {
					return head, n, nil
				}
			}
		}
	}
	return s, 0, fmt.Errorf("%q: write text such as \"2nd time\" after the comma, not %q", s, tail)
}

// NthTime returns text such as "2nd time".
func NthTime(n int) string { return Ordinal(n) + " time" }

// Ordinal returns text such as "2nd".
func Ordinal(n int) string {
	suffix := "th"
	if tens := n % 100; tens < 11 || tens > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.Itoa(n) + suffix
}
