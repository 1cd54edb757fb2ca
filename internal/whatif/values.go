package whatif

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A unit is what a value counts.
type unit int

const (
	number   unit = iota
	duration      // nanoseconds
	rate          // parts per billion; see [sim.Rate]
)

// parseValue reads a whole number, a duration, or the rate of a clock, such as +2%. ok is false if
// the text is none of these.
func parseValue(text string) (value int64, u unit, ok bool) {
	if n, err := strconv.ParseInt(text, 10, 32); err == nil {
		return n, number, true
	}
	if d, err := time.ParseDuration(text); err == nil {
		return int64(d), duration, true
	}
	r, err := sim.ParseRate(text)
	return int64(r), rate, err == nil
}

// A Range contains From, To, and every multiple of Resolution between them.
type Range struct {
	From, To   int64
	Resolution int64
	unit       unit
}

// newRange returns a range with a resolution that suits its length.
func newRange(from, to int64, u unit) Range {
	switch u {
	case duration:
		return Range{from, to, max(resolutionOf(to-from), int64(time.Microsecond)), u}
	case rate:
		return Range{from, to, max(resolutionOf(to-from), int64(sim.PPM)), u}
	}
	return Range{from, to, 1, u}
}

// ParseRange reads a range such as 1s..60s, 1..7 or +10ppm..+2%, as the value of an
// override. isRange is false if the text is not meant as one.
func ParseRange(text string) (r Range, isRange bool, err error) {
	first, last, isRange := strings.Cut(text, "..")
	if !isRange {
		return r, false, nil
	}
	from, fromUnit, fromOK := parseValue(first)
	to, toUnit, toOK := parseValue(last)
	wrong := first
	if fromOK {
		wrong = last
	}
	switch {
	case !fromOK || !toOK:
		return r, true, fmt.Errorf("%q is neither a duration nor a whole number nor a rate; a range has two of them, as in 1s..60s or 1..7", wrong)
	case fromUnit != toUnit:
		return r, true, fmt.Errorf("the ends of the range %s have different units; write both as durations, as in 1s..60s, both as numbers, or both as rates", text)
	case from == to:
		return r, true, fmt.Errorf("the range %s contains one value; its ends must differ", text)
	case from > to:
		return r, true, fmt.Errorf("the range %s does not go upwards; write the smaller value first", text)
	case to-from < 0:
		return r, true, fmt.Errorf("the range %s is too large", text)
	}
	return newRange(from, to, fromUnit), true, nil
}

// resolutionOf returns how exactly borders are found in a range of this length: a fifty
// thousandth of it, rounded down to a power of ten. For a minute that is a millisecond.
func resolutionOf(length int64) int64 {
	const parts = 50_000
	return int64(math.Pow10(int(math.Log10(max(float64(length)/parts, 1)))))
}

// Format returns a value of the range as a file has it.
func (r Range) Format(value int64) string {
	switch r.unit {
	case duration:
		return trace.ShortDuration(time.Duration(value))
	case rate:
		return sim.Rate(value).String()
	}
	return strconv.FormatInt(value, 10)
}

// round returns the largest multiple of the resolution that is at most value, but at least
// From.
func (r Range) round(value int64) int64 {
	below := value % r.Resolution
	if below < 0 {
		below += r.Resolution
	}
	return max(value-below, r.From)
}

// split returns a value of the range strictly between low and high, about halfway; ok is
// false if there is none.
func (r Range) split(low, high int64) (middle int64, ok bool) {
	middle = r.round(low + (high-low)/2)
	if middle <= low {
		middle += r.Resolution
	}
	return middle, low < middle && middle < high
}

// Steps returns about n values of the range in equal steps, among them both ends.
func (r Range) Steps(n int) []int64 {
	values := []int64{r.From}
	for i := 1; i < n; i++ {
		value := r.round(r.From + int64(float64(r.To-r.From)*float64(i)/float64(n)))
		if value > values[len(values)-1] {
			values = append(values, value)
		}
	}
	return append(values, r.To)
}

// nearbyValues returns the values that are tried in place of a value, in ascending order, and the range
// in which they are: from 0 to eight times the value. Most are near the value, and the value is
// among them.
func nearbyValues(value int64, u unit) ([]int64, Range) {
	const most = 8
	size := value
	if value < 0 {
		size = -value
	}
	var sizes []int64
	if u == number {
		for n := range min(max(3*size, size+4), 64) {
			sizes = append(sizes, n+1)
		}
		sizes = append(sizes, size)
	} else {
		for _, share := range []float64{0, 1. / 128, 1. / 16, 1. / 4, 1. / 2, 7. / 8, 1 - 1./64, 1 - 1./1024, 1 + 1./1024, 1 + 1./64, 1 + 1./8, 1.5, 2, 4, most} {
			sizes = append(sizes, int64(float64(size)*share))
		}
	}
	r := newRange(0, most*size, u)
	for i := range sizes {
		sizes[i] = r.round(sizes[i])
	}
	sizes = append(sizes, size)
	slices.Sort(sizes)
	sizes = slices.Compact(sizes)
	if value < 0 {
		for i := range sizes {
			sizes[i] = -sizes[i]
		}
		slices.Reverse(sizes)
		r.From, r.To = -r.To, 0
	}
	return sizes, r
}
