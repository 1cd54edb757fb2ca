package checks

import (
	"math"
	"time"

	"github.com/locksim/locksim/trace"
)

// A moment is a point of true time in a trace. Moments are ordered by time and,
// within a nanosecond, by the sequence of events.
type moment struct {
	at  time.Duration
	seq int
}

// forever is later than every event.
var forever = moment{math.MaxInt64, math.MaxInt}

// momentOf is when an event happened.
func momentOf(ev *trace.Event) moment { return moment{ev.At, ev.Seq} }

// start is when a nanosecond begins: before any event in it.
func start(at time.Duration) moment { return moment{at, math.MinInt} }

func (m moment) before(o moment) bool {
	return m.at < o.at || m.at == o.at && m.seq < o.seq
}

func earlier(a, b moment) moment {
	if b.before(a) {
		return b
	}
	return a
}

func later(a, b moment) moment {
	if a.before(b) {
		return b
	}
	return a
}

// String is for sentences that have "until" or "at" before it.
func (m moment) String() string {
	if m == forever {
		return "the end of the run"
	}
	return m.at.String()
}
