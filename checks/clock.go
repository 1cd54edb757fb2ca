package checks

import (
	"math"
	"math/bits"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/trace"
)

// A stretch is how one clock of a process goes from one change of its clocks to
// the next.
type stretch struct {
	from moment
	// reads is what the clock shows at from.
	reads int64
	// pace is how many nanoseconds it counts in a second of true time; 0 is a
	// clock that stands still.
	pace uint64
}

const second = uint64(time.Second)

// stretches tells one clock of a process, from its first reading on. A process
// whose clocks the trace does not mention keeps true time.
func stretches(changes []*trace.Event, kind fakeclock.Kind) []stretch {
	if len(changes) == 0 {
		return []stretch{{from: start(0), pace: second}}
	}
	all := make([]stretch, len(changes))
	for i, ev := range changes {
		s := stretch{from: momentOf(ev), reads: ev.Clocks.Wall}
		if kind == fakeclock.Monotonic {
			s.reads = ev.Clocks.Monotonic
		}
		if pace := int64(second) + ev.Clocks.RatePPB; pace > 0 && !ev.Clocks.Halted {
			s.pace = uint64(pace)
		}
		all[i] = s
	}
	return all
}

// at is what the clock shows at a true time within the stretch.
func (s stretch) at(t time.Duration) int64 {
	hi, lo := bits.Mul64(uint64(t-s.from.at), s.pace)
	counted, _ := bits.Div64(hi, lo, second)
	return s.reads + int64(counted)
}

// reaches is the first true time at which the clock shows value, which it does
// not show yet when the stretch begins, if the stretch lasts that long.
func (s stretch) reaches(value int64) (t time.Duration, ever bool) {
	hi, lo := bits.Mul64(uint64(value-s.reads), second)
	if hi >= s.pace {
		return 0, false
	}
	wait, rest := bits.Div64(hi, lo, s.pace)
	if rest > 0 {
		wait++
	}
	if wait > uint64(math.MaxInt64-s.from.at) {
		return 0, false
	}
	return s.from.at + time.Duration(wait), true
}

// current is the number of the stretch that a moment is in.
func current(all []stretch, m moment) int {
	now := 0
	for now+1 < len(all) && !m.before(all[now+1].from) {
		now++
	}
	return now
}

// shown is what the clock shows at a moment.
func shown(all []stretch, m moment) int64 {
	s := all[current(all, m)]
	return s.at(max(m.at, s.from.at))
}

// passed maps a reading of a process's clock, as it was declared at some
// moment, to true time: to the first moment from then on at which the clock
// shows it, changes of the clock included. If the clock had already passed it
// when it was declared, that is when it did.
func passed(all []stretch, value int64, declared moment) moment {
	now := current(all, declared)
	if shown(all, declared) >= value {
		return passedBefore(all[:now+1], value)
	}
	for i, s := range all[now:] {
		if s.reads >= value {
			return s.from // the change itself took the clock past it
		}
		t, ever := s.reaches(value)
		if next := now + i + 1; ever && (next == len(all) || t <= all[next].from.at) {
			return start(t)
		}
	}
	return forever
}

// passedBefore is since when a clock that shows value or more at the end of the
// last stretch has done so without a break.
func passedBefore(all []stretch, value int64) moment {
	for i := len(all) - 1; ; i-- {
		s := all[i]
		if s.reads < value {
			t, _ := s.reaches(value)
			return start(t)
		}
		if i == 0 || all[i-1].at(s.from.at) < value {
			return s.from
		}
	}
}
