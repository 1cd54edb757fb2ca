package history

import (
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/trace"
)

// A Lease is the time during which a lock says that its client holds it.
type Lease struct {
	From Moment
	// Ends is what the lock said, in order, of the lease's end: when it granted
	// it and each time it prolonged it.
	Ends []Declaration
	// Cut is when the lease was released or lost, or its client crashed.
	Cut Moment
}

// A Declaration is what one event, an end of acquire or of extend, said of the
// lease's end.
type Declaration struct {
	Event *trace.Event
	// Call is when the step was called, or ev if the lock took it by itself.
	Call  *trace.Event
	Until Moment
	// Due is what Until would be if the client's clock had kept true time since
	// the call.
	Due Moment
	// Foreseen is what Until would be if nothing had changed the client's clock any
	// more: what one could tell then.
	Foreseen Moment
}

// Until is when the lease ends, as far as the event seq and those before it
// tell.
func (l Lease) Until(seq int) Moment {
	if d := l.Latest(seq); d != nil {
		return Earlier(d.Until, l.Cut)
	}
	return Earlier(l.From, l.Cut)
}

// Latest is the last declaration up to the event seq; nil if there is none.
func (l Lease) Latest(seq int) *Declaration {
	for i := len(l.Ends) - 1; i >= 0; i-- {
		if l.Ends[i].Event.Seq <= seq {
			return &l.Ends[i]
		}
	}
	return nil
}

// End is when the lease ends.
func (l Lease) End() Moment { return l.Until(Never.Seq) }

// Longest is the latest end that the lease ever had.
func (l Lease) Longest() Moment {
	last := l.From
	for _, d := range l.Ends {
		last = Later(last, d.Until)
	}
	return Earlier(last, l.Cut)
}

// Empty reports that the lease had ended when it was granted.
func (l Lease) Empty() bool { return !l.From.Before(l.End()) }

// ProlongedTooLate is the first declaration that a lease was prolonged which came
// when the lease's old end and its new one had both passed; nil if there is none.
func (l Lease) ProlongedTooLate() *Declaration {
	for i := 1; i < len(l.Ends); i++ {
		d := &l.Ends[i]
		if said := MomentOf(d.Event); !said.Before(d.Until) && !said.Before(l.Until(d.Event.Seq-1)) {
			return d
		}
	}
	return nil
}

// prolong declares a new end. A lease that had ended runs on as if it had not:
// whoever holds it is told that nothing happened. An end that lies in the past
// takes back nothing of what had been promised until now.
func (l *Lease) prolong(d Declaration) {
	d.Until = Later(d.Until, Earlier(l.Until(d.Event.Seq), MomentOf(d.Event)))
	l.Ends = append(l.Ends, d)
}

// Overlap returns the event with which two leases turned out to overlap: the
// later grant, or the extend of a lease that had already ended; nil if they do
// not overlap.
func (l Lease) Overlap(o Lease) *trace.Event {
	both := Later(l.From, o.From)
	for i, j := 0, 0; i < len(l.Ends) || j < len(o.Ends); {
		var ev *trace.Event // the next declaration of either
		if j == len(o.Ends) || i < len(l.Ends) && l.Ends[i].Event.Seq < o.Ends[j].Event.Seq {
			ev = l.Ends[i].Event
			i++
		} else {
			ev = o.Ends[j].Event
			j++
		}
		if i > 0 && j > 0 && both.Before(Earlier(Earlier(l.Ends[i-1].Until, l.Cut), Earlier(o.Ends[j-1].Until, o.Cut))) {
			return ev
		}
	}
	return nil
}

// declare finds when a lease ends that was granted or prolonged by ev, an end
// of acquire or of extend. call is nil if the lock prolonged it by itself.
func (r *reading) declare(s *Section, call, ev *trace.Event) Declaration {
	if call == nil {
		call = ev
	}
	d := Declaration{Event: ev, Call: call}
	switch ttl := r.locks[s.Lock].TTL; {
	case ev.Ends != nil:
		clock := r.ClockOf(s, ev.Ends.Clock)
		d.Until = clock.When(ev.Ends.Nanos, MomentOf(ev))
		d.Foreseen = clock.until(MomentOf(ev)).When(ev.Ends.Nanos, MomentOf(ev))
		d.Due = StartOf(call.At + time.Duration(ev.Ends.Nanos-clock.Shows(MomentOf(call))))
	case s.Notifies || ttl == 0:
		d.Until, d.Due, d.Foreseen = Never, Never, Never
	default:
		d.Until = StartOf(call.At + ttl)
		d.Due, d.Foreseen = d.Until, d.Until
	}
	return d
}

// ClockOf is the clock that a section's lock reads. A lock that reads true time reads
// what its client's clock was before any fault.
func (h *History) ClockOf(s *Section, kind fakeclock.Kind) Clock {
	if h.locks[s.Lock].TrueTime {
		return h.clocks.Untouched(s.Client, kind)
	}
	return h.clocks.Of(s.Client, kind)
}
