package whatif

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/trace"
)

// A Range contains From, To, and every multiple of Resolution between them. If IsTime, the
// unit is nanoseconds.
type Range struct {
	From, To   int64
	Resolution int64
	IsTime     bool
}

// ParseRange reads a range such as 1s..60s or 1..7, as the value of an override. isRange is
// false if the text is not meant as one.
func ParseRange(text string) (r Range, isRange bool, err error) {
	first, last, isRange := strings.Cut(text, "..")
	if !isRange {
		return r, false, nil
	}
	from, fromIsTime, err := parseEnd(first)
	if err != nil {
		return r, true, err
	}
	to, toIsTime, err := parseEnd(last)
	switch {
	case err != nil:
		return r, true, err
	case fromIsTime != toIsTime:
		return r, true, fmt.Errorf("one end of the range %s is a duration and the other a number; write both with a unit, as in 1s..60s, or both without", text)
	case from == to:
		return r, true, fmt.Errorf("the range %s contains one value; its ends must differ", text)
	case from > to:
		return r, true, fmt.Errorf("the range %s does not go upwards; write the smaller value first", text)
	case to-from < 0:
		return r, true, fmt.Errorf("the range %s is too large", text)
	}
	r = Range{from, to, 1, fromIsTime}
	if r.IsTime {
		r.Resolution = timeResolution(to - from)
	}
	return r, true, nil
}

// parseEnd reads one end of a range: a duration, or a whole number.
func parseEnd(text string) (value int64, isTime bool, err error) {
	if n, err := strconv.ParseInt(text, 10, 32); err == nil {
		return n, false, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, false, fmt.Errorf("%q is neither a duration nor a whole number; a range has two of them, as in 1s..60s or 1..7", text)
	}
	return int64(d), true, nil
}

// timeResolution returns how exactly borders are found in a range of times of this length:
// a fifty thousandth of it, rounded down to a power of ten, but at least a microsecond. For
// a minute that is a millisecond.
func timeResolution(length int64) int64 {
	const finest, parts = int64(time.Microsecond), 50_000
	power := math.Pow10(int(math.Log10(max(float64(length)/parts, 1))))
	return max(int64(power), finest)
}

// Format returns a value of the range as a file has it.
func (r Range) Format(value int64) string {
	if r.IsTime {
		return trace.ShortDuration(time.Duration(value))
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

// steps returns about n values of the range in equal steps, among them both ends.
func (r Range) steps(n int) []int64 {
	values := []int64{r.From}
	for i := 1; i < n; i++ {
		value := r.round(r.From + int64(float64(r.To-r.From)*float64(i)/float64(n)))
		if value > values[len(values)-1] {
			values = append(values, value)
		}
	}
	return append(values, r.To)
}
