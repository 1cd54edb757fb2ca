package story

import (
	"strconv"
	"strings"

	"github.com/locksim/locksim/trace"
)

// List writes "a", "a and b", "a, b and c".
func List[S ~string](items []S) string { return joinSeries(items, "and") }

// Alternatives writes "a", "a or b", "a, b or c".
func Alternatives[S ~string](items []S) string { return joinSeries(items, "or") }

func joinSeries[S ~string](items []S, last string) string {
	var b strings.Builder
	for i, item := range items {
		switch {
		case i == 0:
		case i == len(items)-1:
			b.WriteString(" " + last + " ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(string(item))
	}
	return b.String()
}

// Count writes "1 message", "8,934 messages".
func Count[N int | uint64](n N, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return Thousands(n) + " " + noun
}

// Thousands writes a number with a comma before every three digits: 17,912,345.
func Thousands[N int | uint64](n N) string {
	s := strconv.FormatUint(uint64(n), 10)
	for at := len(s) - 3; at > 0; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

// Ordinal writes "first" to "tenth", then "11th".
func Ordinal(n int) string {
	words := []string{"first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"}
	if n > 0 && n <= len(words) {
		return words[n-1]
	}
	return trace.Ordinal(n)
}

// Possessive returns the possessive form of a name, such as client-1's.
func Possessive(name string) string {
	if strings.HasSuffix(name, "s") {
		return name + "'"
	}
	return name + "'s"
}
