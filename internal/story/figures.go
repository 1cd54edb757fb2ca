package story

import (
	"fmt"
	"strings"
	"time"

	"github.com/locksim/locksim/trace"
)

// How a time is written depends on who is to read it. People read three figures or so of
// a length of time ([Span]), fewer in prose ([About]) and of what they have waited themselves
// ([Roughly]). A moment of a run is cut off after its milliseconds ([Moment]), and in a
// sentence one that is round stays so ([Time]). Where a length is to be exact to the
// nanosecond, as in a scenario, it is written as scenarios have it ([trace.ShortDuration]).

// Moment writes a true time as seconds, cut off (not rounded, so that nothing is
// shown later than it was) after the given number of decimals. What happens
// before a world's start has a negative time.
func Moment(t time.Duration, decimals int) string {
	if t < 0 {
		return "-" + Moment(-t, decimals)
	}
	frac := fmt.Sprintf("%09d", t%time.Second)[:decimals]
	return fmt.Sprintf("%d.%ss", t/time.Second, frac)
}

// FromTo is a stretch of time: "from 1.200s to 3.400s".
func FromTo(from, to time.Duration) string {
	return "from " + Moment(from, 3) + " to " + Moment(to, 3)
}

// Span writes a length of time with three figures or so: 1m0s, 31.2s, 480ms.
func Span(d time.Duration) string {
	sign := ""
	if d < 0 {
		sign, d = "-", -d
	}
	unit := time.Duration(1)
	for d/unit >= 1000 && unit < 100*time.Millisecond {
		unit *= 10
	}
	return sign + d.Round(unit).String()
}

// About writes a length of time to a tenth of a second, or to the millisecond if it is
// shorter than one: 1m, 31.2s, 480ms.
func About(d time.Duration) string {
	if d >= time.Second {
		return trace.ShortDuration(d.Round(100 * time.Millisecond))
	}
	return trace.ShortDuration(d.Round(time.Millisecond))
}

// Roughly writes a length of time that is waited for: 5h 12m, 3m 20s, 12.3s, 480ms.
func Roughly(d time.Duration) string {
	switch {
	case d.Round(time.Second) >= time.Hour:
		d = d.Round(time.Minute)
		return fmt.Sprintf("%dh %dm", d/time.Hour, d%time.Hour/time.Minute)
	case d.Round(100*time.Millisecond) >= time.Minute:
		d = d.Round(time.Second)
		return fmt.Sprintf("%dm %ds", d/time.Minute, d%time.Minute/time.Second)
	case d >= time.Second:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Millisecond).String()
}

// Token is a fencing token as people see it. Of one that is a time of day or a
// random number the last digits are enough to tell it from others.
func Token(t uint64) string {
	if t < 10_000_000_000 {
		return fmt.Sprint(t)
	}
	return fmt.Sprintf("…%07d", t%10_000_000)
}

// Carried says which token a request carries, if it carries one: " (token 7)".
func Carried(t uint64) string {
	if t == 0 {
		return ""
	}
	return fmt.Sprintf(" (token %s)", Token(t))
}

// Time is a time in what is said of a run: one that is round stays as it is, any other
// is written as a moment, so that one finds it on the timeline.
func Time(d time.Duration) string {
	if s := d.String(); !strings.Contains(s, ".") {
		return s
	}
	return Moment(d, 3)
}

// rate writes parts per billion as people say them.
func rate(ppb int64) string {
	way := "fast"
	if ppb < 0 {
		way, ppb = "slow", -ppb
	}
	switch {
	case ppb == 0:
		return "true"
	case ppb >= 100_000:
		return decimal(ppb, 10_000_000) + "% " + way
	case ppb >= 100:
		return decimal(ppb, 1000) + " ppm " + way
	}
	return fmt.Sprintf("%d ppb %s", ppb, way)
}

// decimal writes n/unit exactly; unit is a power of ten.
func decimal(n, unit int64) string {
	whole, rest := n/unit, n%unit
	if rest == 0 {
		return fmt.Sprint(whole)
	}
	digits := fmt.Sprintf("%d", unit+rest)[1:]
	return fmt.Sprintf("%d.%s", whole, strings.TrimRight(digits, "0"))
}
