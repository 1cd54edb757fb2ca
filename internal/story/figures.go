package story

import (
	"fmt"
	"strings"
	"time"

	"github.com/locksim/locksim/trace"
)

// This file formats times, durations and tokens. How a time is written depends on its
// reader. A duration has about three significant digits ([Span]). It has fewer in prose
// ([ProseSpan]), and for real time that the user has waited ([WaitedTime]). A moment of a
// run is truncated to milliseconds ([Moment]); in a sentence a round moment stays as it is
// ([Time]). A duration that must be exact to the nanosecond, as in a scenario, is written
// by [trace.ShortDuration].

// Moment writes a true time in seconds with the given number of decimals. It truncates
// instead of rounding, because nothing may be shown later than it happened. The time is
// negative for a moment before the start of the world.
func Moment(t time.Duration, decimals int) string {
	if t < 0 {
		return "-" + Moment(-t, decimals)
	}
	frac := fmt.Sprintf("%09d", t%time.Second)[:decimals]
	return fmt.Sprintf("%d.%ss", t/time.Second, frac)
}

// FromTo writes a period of time: "from 1.200s to 3.400s".
func FromTo(from, to time.Duration) string {
	return "from " + Moment(from, 3) + " to " + Moment(to, 3)
}

// Span writes a duration with about three significant digits: 1m0s, 31.2s, 480ms.
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

// ProseSpan rounds a duration to a tenth of a second, or to a millisecond if it is shorter
// than one second: 1m, 31.2s, 480ms.
func ProseSpan(d time.Duration) string {
	if d >= time.Second {
		return trace.ShortDuration(d.Round(100 * time.Millisecond))
	}
	return trace.ShortDuration(d.Round(time.Millisecond))
}

// WaitedTime writes a duration of real time that the user has waited: 5h 12m, 3m 20s,
// 12.3s, 480ms.
func WaitedTime(d time.Duration) string {
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

// Token writes a fencing token for people. A very large token, such as a time of day or a
// random number, is shortened to its last seven digits, which are enough to distinguish it.
func Token(t uint64) string {
	if t < 10_000_000_000 {
		return fmt.Sprint(t)
	}
	return fmt.Sprintf("…%07d", t%10_000_000)
}

// TokenSuffix writes the token that a request carries, as " (token 7)". It returns "" for
// 0, which means that there is no token.
func TokenSuffix(t uint64) string {
	if t == 0 {
		return ""
	}
	return fmt.Sprintf(" (token %s)", Token(t))
}

// Time writes a time in a sentence about a run. A time without a decimal point stays as it
// is; any other is written as Moment does, because a reader looks for it on the timeline.
func Time(d time.Duration) string {
	if s := d.String(); !strings.Contains(s, ".") {
		return s
	}
	return Moment(d, 3)
}

// rate writes a clock rate, given in parts per billion, with the unit that fits.
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
