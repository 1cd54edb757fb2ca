package history

import (
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/trace"
)

// A clockSegment describes one clock of a process between two changes of its clocks: what
// it shows at the beginning, and how fast it counts.
type clockSegment struct {
	from Moment
	// startReading is what the clock shows at the segment's beginning, in nanoseconds.
	startReading int64
	// pace is how many nanoseconds the clock counts in a second of true time; 0 if the
	// clock has stopped.
	pace uint64
}

const second = uint64(time.Second)

// A Clock is one clock of a process over a whole run, as segments in the order of time.
type Clock []clockSegment

// Clocks is a reader that follows, event by event, the changes of the processes' clocks.
type Clocks struct {
	all     []*trace.Event
	changes map[string][]*trace.Event // by process
}

// NewClocks returns a reader that has seen no event.
func NewClocks() *Clocks { return &Clocks{changes: map[string][]*trace.Event{}} }

// See processes the next event.
func (c *Clocks) See(ev *trace.Event) {
	if ev.Kind == trace.KindClock {
		c.all = append(c.all, ev)
		c.changes[ev.Process] = append(c.changes[ev.Process], ev)
	}
}

// Of returns one clock of a process. After the last change that the reader has seen, the
// clock continues as if no further change followed.
func (c *Clocks) Of(process string, kind fakeclock.Kind) Clock {
	return clockOf(c.changes[process], kind)
}

// Unfaulted returns one clock of a process as it would be without faults: it counts true
// time from its first reading on. A lock that reads true time (TrueTime in
// [trace.LockInfo]) reads this clock.
func (c *Clocks) Unfaulted(process string, kind fakeclock.Kind) Clock {
	changes := c.changes[process]
	return clockOf(changes[:min(len(changes), 1)], kind)
}

// HasReadings reports whether the trace contains readings of a process's clocks. It contains no
// readings of a cluster as a whole, such as that of etcd, because a cluster has no clock of its
// own.
func (c *Clocks) HasReadings(process string) bool { return len(c.changes[process]) > 0 }

// WasSet reports whether a fault had set a process's clocks, or changed their rate, up to
// the event seq.
func (c *Clocks) WasSet(process string, seq int) bool {
	for _, ev := range c.changes[process] {
		if ev.Seq <= seq && (ev.Clocks.Why == trace.Jumped || ev.Clocks.Why == trace.Drifted) {
			return true
		}
	}
	return false
}

// JumpSize returns by how much the clock event ev set its process's wall clock. A positive
// size is forward, a negative one is back.
func (c *Clocks) JumpSize(ev *trace.Event) time.Duration {
	changes := c.changes[ev.Process]
	i := slices.Index(changes, ev)
	if i < 0 {
		return 0
	}
	return time.Duration(ev.Clocks.Wall - clockOf(changes[:i], fakeclock.Wall).ReadingAt(MomentOf(ev)))
}

// clockOf returns one clock of a process, from its first reading on. A process without
// readings in the trace keeps true time.
func clockOf(changes []*trace.Event, kind fakeclock.Kind) Clock {
	if len(changes) == 0 {
		return Clock{{from: StartOf(0), pace: second}}
	}
	all := make(Clock, len(changes))
	for i, ev := range changes {
		s := clockSegment{from: MomentOf(ev), startReading: ev.Clocks.Wall}
		if kind == fakeclock.Monotonic {
			s.startReading = ev.Clocks.Monotonic
		}
		if pace := int64(second) + ev.Clocks.RatePPB; pace > 0 && !ev.Clocks.Halted {
			s.pace = uint64(pace)
		}
		all[i] = s
	}
	return all
}

// readingAt returns what the clock shows at the true time t, which must be in the segment.
func (s clockSegment) readingAt(t time.Duration) int64 {
	hi, lo := bits.Mul64(uint64(t-s.from.At), s.pace)
	counted, _ := bits.Div64(hi, lo, second)
	return s.startReading + int64(counted)
}

// timeOf returns the first true time at which the clock shows value, if the segment lasts that
// long. reached is false if the clock would never show value. The clock must show less than
// value when the segment begins.
func (s clockSegment) timeOf(value int64) (t time.Duration, reached bool) {
	hi, lo := bits.Mul64(uint64(value-s.startReading), second)
	if hi >= s.pace {
		return 0, false
	}
	wait, rest := bits.Div64(hi, lo, s.pace)
	if rest > 0 {
		wait++
	}
	if wait > uint64(math.MaxInt64-s.from.At) {
		return 0, false
	}
	return s.from.At + time.Duration(wait), true
}

// segmentAt returns the index of the segment that contains a moment.
func (all Clock) segmentAt(m Moment) int {
	index := 0
	for index+1 < len(all) && !m.Before(all[index+1].from) {
		index++
	}
	return index
}

// withoutChangesAfter returns the clock as it would run if nothing changed it after a
// moment.
func (all Clock) withoutChangesAfter(m Moment) Clock { return all[:all.segmentAt(m)+1] }

// ReadingAt returns what the clock shows at a moment, in nanoseconds: since 1970 for a wall
// clock, and since its start for a monotonic one.
func (all Clock) ReadingAt(m Moment) int64 {
	s := all[all.segmentAt(m)]
	return s.readingAt(max(m.At, s.from.At))
}

// trueTimeOf converts a reading of the clock to true time. value is the reading that a lock has
// declared, at the moment declared, for example as the end of a lease. The result is the first
// moment, from declared on, at which the clock has reached the value, even if it is set back later;
// [Never] if it never reaches it. If the clock had already reached the value at the moment
// declared, the result is the moment at which it did so.
func (all Clock) trueTimeOf(value int64, declared Moment) Moment {
	current := all.segmentAt(declared)
	if all.ReadingAt(declared) >= value {
		return all[:current+1].reachedSince(value)
	}
	for i, s := range all[current:] {
		if s.startReading >= value {
			return s.from // the change itself moved the clock past the value
		}
		t, reached := s.timeOf(value)
		if next := current + i + 1; reached && (next == len(all) || t <= all[next].from.At) {
			return StartOf(t)
		}
	}
	return Never
}

// reachedSince returns the moment from which the clock has shown at least value without a break,
// until the last segment ends. The clock must show at least value in the last segment.
func (all Clock) reachedSince(value int64) Moment {
	for i := len(all) - 1; ; i-- {
		s := all[i]
		if s.startReading < value {
			t, _ := s.timeOf(value)
			return StartOf(t)
		}
		if i == 0 || all[i-1].readingAt(s.from.At) < value {
			return s.from
		}
	}
}

// Uncounted reports why the clock counted less time between two moments than really passed. stopped
// says that the clock did not count at all for a while. slow says that the clock was set back, or
// counted too slowly.
func (all Clock) Uncounted(from, to Moment) (stopped, slow bool) {
	first := all.segmentAt(from)
	for i := first; i < len(all) && !to.Before(all[i].from); i++ {
		s := all[i]
		switch {
		case s.pace == 0:
			stopped = true
		case s.pace < second, i > first && s.startReading < all[i-1].readingAt(s.from.At):
			slow = true
		}
	}
	return stopped, slow
}
