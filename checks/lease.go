package checks

import (
	"slices"

	"github.com/locksim/locksim/sim"
)

// A lease is the time during which a lock says that its client holds it.
type lease struct {
	from moment
	// ends is what the lock said, in order, of the lease's end: when it granted
	// it and each time it prolonged it.
	ends []declaration
	// cut is when the lease was released or lost, or its client crashed.
	cut moment
}

// A declaration is what one event, an end of acquire or of extend, said of the
// lease's end.
type declaration struct {
	ev    *sim.Event
	until moment
}

// until is when the lease ends, as far as the event seq and those before it
// tell.
func (l lease) until(seq int) moment {
	until := l.from
	for _, d := range l.ends {
		if d.ev.Seq <= seq {
			until = d.until
		}
	}
	return earlier(until, l.cut)
}

// end is when the lease ends.
func (l lease) end() moment { return l.until(forever.seq) }

// empty reports that the lease had ended when it was granted.
func (l lease) empty() bool { return !l.from.before(l.end()) }

// prolong declares a new end. A lease that had ended runs on as if it had not:
// whoever holds it is told that nothing happened. An end that lies in the past
// takes back nothing of what had been promised until now.
func (l *lease) prolong(ev *sim.Event, until moment) {
	kept := earlier(l.until(ev.Seq), momentOf(ev))
	l.ends = append(l.ends, declaration{ev, later(until, kept)})
}

// overlap returns the event with which two leases turned out to overlap: the
// later grant, or the extend of a lease that had already ended; nil if they do
// not overlap.
func (l lease) overlap(o lease) *sim.Event {
	said := slices.Concat(l.ends, o.ends)
	slices.SortFunc(said, func(a, b declaration) int { return a.ev.Seq - b.ev.Seq })
	for _, d := range said {
		seq := d.ev.Seq
		if l.from.seq <= seq && o.from.seq <= seq &&
			later(l.from, o.from).before(earlier(l.until(seq), o.until(seq))) {
			return d.ev
		}
	}
	return nil
}

// declare finds when a lease ends that was granted or prolonged by ev, an end
// of acquire or of extend that was called with call.
func (h *history) declare(s *section, call, ev *sim.Event) moment {
	ttl := h.ttl[s.lock]
	switch {
	case ev.Ends != nil:
		changes := h.clocks[s.client]
		if h.trueTime[s.lock] {
			// What the clock was before any fault: true time.
			changes = changes[:min(len(changes), 1)]
		}
		return passed(changes, *ev.Ends, momentOf(ev))
	case s.notifies || ttl == 0:
		return forever
	case call == nil:
		return start(ev.At + ttl)
	}
	return start(call.At + ttl)
}
