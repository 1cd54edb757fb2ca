package reports

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// moment writes a true time as seconds, cut off (not rounded, so that nothing is
// shown later than it was) after the given number of decimals. What happens
// before a world's start has a negative time.
func moment(t time.Duration, decimals int) string {
	if t < 0 {
		return "-" + moment(-t, decimals)
	}
	frac := fmt.Sprintf("%09d", t%time.Second)[:decimals]
	return fmt.Sprintf("%d.%ss", t/time.Second, frac)
}

// span writes a length of time with three figures or so: 1m0s, 31.2s, 480ms.
func span(d time.Duration) string {
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

// roughly writes a length of time for people: 5h 12m, 3m 20s, 12.3s, 480ms.
func roughly(d time.Duration) string {
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

// wrap breaks s between words into lines of at most width columns, each but the
// first indented. A word longer than a line stays whole.
func wrap(s string, width, indent int) string {
	var b strings.Builder
	col := 0
	for i, word := range strings.Fields(s) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case col+1+n > width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			col = indent
		default:
			b.WriteByte(' ')
			col++
		}
		b.WriteString(word)
		col += n
	}
	return b.String()
}
