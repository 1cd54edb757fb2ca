package checks

import (
	"time"

	"github.com/locksim/locksim/trace"
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
	ev *trace.Event
	// call is when the step was called, or ev if the lock took it by itself.
	call  *trace.Event
	until moment
	// due is what until would be if the client's clock had kept true time since
	// the call.
	due moment
}

// until is when the lease ends, as far as the event seq and those before it
// tell.
func (l lease) until(seq int) moment {
	if d := l.latest(seq); d != nil {
		return earlier(d.until, l.cut)
	}
	return earlier(l.from, l.cut)
}

// latest is the last declaration up to the event seq; nil if there is none.
func (l lease) latest(seq int) *declaration {
	for i := len(l.ends) - 1; i >= 0; i-- {
		if l.ends[i].ev.Seq <= seq {
			return &l.ends[i]
		}
	}
	return nil
}

// end is when the lease ends.
func (l lease) end() moment { return l.until(forever.seq) }

// longest is the latest end that the lease ever had.
func (l lease) longest() moment {
	last := l.from
	for _, d := range l.ends {
		last = later(last, d.until)
	}
	return earlier(last, l.cut)
}

// empty reports that the lease had ended when it was granted.
func (l lease) empty() bool { return !l.from.before(l.end()) }

// prolongedTooLate is the first declaration that a lease was prolonged which came
// when the lease's old end and its new one had both passed; nil if there is none.
func (l lease) prolongedTooLate() *declaration {
	for i := 1; i < len(l.ends); i++ {
		d := &l.ends[i]
		if said := momentOf(d.ev); !said.before(d.until) && !said.before(l.until(d.ev.Seq-1)) {
			return d
		}
	}
	return nil
}

// prolong declares a new end. A lease that had ended runs on as if it had not:
// whoever holds it is told that nothing happened. An end that lies in the past
// takes back nothing of what had been promised until now.
func (l *lease) prolong(d declaration) {
	d.until = later(d.until, earlier(l.until(d.ev.Seq), momentOf(d.ev)))
	l.ends = append(l.ends, d)
}

// overlap returns the event with which two leases turned out to overlap: the
// later grant, or the extend of a lease that had already ended; nil if they do
// not overlap.
func (l lease) overlap(o lease) *trace.Event {
	both := later(l.from, o.from)
	for i, j := 0, 0; i < len(l.ends) || j < len(o.ends); {
		var ev *trace.Event // the next declaration of either
		if j == len(o.ends) || i < len(l.ends) && l.ends[i].ev.Seq < o.ends[j].ev.Seq {
			ev = l.ends[i].ev
			i++
		} else {
			ev = o.ends[j].ev
			j++
		}
		if i > 0 && j > 0 && both.before(earlier(earlier(l.ends[i-1].until, l.cut), earlier(o.ends[j-1].until, o.cut))) {
			return ev
		}
	}
	return nil
}

// declare finds when a lease ends that was granted or prolonged by ev, an end
// of acquire or of extend. call is nil if the lock prolonged it by itself.
func (h *history) declare(s *section, call, ev *trace.Event) declaration {
	if call == nil {
		call = ev
	}
	d := declaration{ev: ev, call: call}
	switch ttl := h.info[s.lock].TTL; {
	case ev.Ends != nil:
		clock := stretches(h.clocksOf(s), ev.Ends.Clock)
		d.until = passed(clock, ev.Ends.Nanos, momentOf(ev))
		d.due = start(call.At + time.Duration(ev.Ends.Nanos-shown(clock, momentOf(call))))
	case s.notifies || ttl == 0:
		d.until, d.due = forever, forever
	default:
		d.until = start(call.At + ttl)
		d.due = d.until
	}
	return d
}

// clocksOf tells what the clocks did that a section's lock reads. A lock that
// reads true time reads what its client's clock was before any fault.
func (h *history) clocksOf(s *section) []*trace.Event {
	changes := h.clocks[s.client]
	if h.info[s.lock].TrueTime {
		changes = changes[:min(len(changes), 1)]
	}
	return changes
}
