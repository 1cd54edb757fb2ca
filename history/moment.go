package history

import (
	"cmp"
	"math"
	"time"

	"github.com/locksim/locksim/trace"
)

// A Moment is a point of true time in a trace. Moments are ordered by time, and within a
// nanosecond by the numbers (Seq) of the events.
type Moment struct {
	At  time.Duration
	Seq int
}

// Never is later than every event.
var Never = Moment{math.MaxInt64, math.MaxInt}

// MomentOf returns when an event happened.
func MomentOf(ev *trace.Event) Moment { return Moment{ev.At, ev.Seq} }

// StartOf returns the beginning of a nanosecond, before any event in it.
func StartOf(at time.Duration) Moment { return Moment{at, math.MinInt} }

// Before reports whether a moment comes before another.
func (m Moment) Before(o Moment) bool {
	return m.At < o.At || m.At == o.At && m.Seq < o.Seq
}

// compare orders moments, for [slices.SortFunc].
func (m Moment) compare(o Moment) int {
	return cmp.Or(cmp.Compare(m.At, o.At), cmp.Compare(m.Seq, o.Seq))
}

// Earlier returns the earlier of two moments.
func Earlier(a, b Moment) Moment {
	if b.Before(a) {
		return b
	}
	return a
}

// Later returns the later of two moments.
func Later(a, b Moment) Moment {
	if a.Before(b) {
		return b
	}
	return a
}

// String returns the moment for use after "until" or "at" in a sentence.
func (m Moment) String() string {
	if m == Never {
		return "the end of the run"
	}
	return m.At.String()
}
