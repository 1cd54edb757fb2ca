package history

import (
	"maps"
	"slices"
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
	// Call is when the step was called. If the lock took it by itself, it is the request that
	// prolonged the lease's keys, or Event if no such request is known.
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
// when the lease's old end and its new one had both passed; nil if there is none. That a
// session had lived is no such declaration: a server has said so, in time, and what the lock
// makes of it when it comes late is another matter.
func (l Lease) ProlongedTooLate() *Declaration {
	for i := 1; i < len(l.Ends); i++ {
		d := &l.Ends[i]
		if said := MomentOf(d.Event); d.Event.Kind != trace.KindAlive && !said.Before(d.Until) && !said.Before(l.Until(d.Event.Seq-1)) {
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
	case ev.Ends == nil && r.lives[life{s.Client, s.Granted.Session}] != nil:
		return lasting(ev, call, r.lives[life{s.Client, s.Granted.Session}])
	case ev.Ends != nil:
		clock := r.ClockOf(s, ev.Ends.Clock)
		d.Until = clock.when(ev.Ends.Nanos, MomentOf(ev))
		d.Foreseen = clock.until(MomentOf(ev)).when(ev.Ends.Nanos, MomentOf(ev))
		d.Due = StartOf(call.At + time.Duration(ev.Ends.Nanos-clock.Shows(MomentOf(call))))
	case s.Notifies || ttl == 0: // as far as the lock says: see dateBySlots
		d.Until, d.Due, d.Foreseen = Never, Never, Never
	default:
		d.Until = StartOf(call.At + ttl)
		d.Due, d.Foreseen = d.Until, d.Until
	}
	return d
}

// dateBySlots finds when the leases end of locks that prolong them by themselves, promise to
// tell of the loss, and either declare no end or declare none of a renewal: when the keys of
// the acquisition have, on a quorum of its slots, stood for their TTL of true time since they
// were last set or prolonged. Of one whose keys nobody knows, or that never stood on a quorum,
// the lease lasts until the lock tells.
func (r *reading) dateBySlots() {
	for _, s := range r.sections {
		lock := r.locks[s.Lock]
		silent := !slices.ContainsFunc(s.Lease.Ends, func(d Declaration) bool { return d.Event.Ends != nil })
		if !s.Notifies || lock.TTL == 0 || r.lives[life{s.Client, s.Granted.Session}] != nil || !silent && !r.renewsUndeclared(s) {
			continue
		}
		ends := Lease{From: s.Lease.From, Cut: s.Lease.Cut}
		due := map[Place]time.Duration{} // of each slot
		until, granted := Moment{}, s.Lease.Ends[0]
		for _, ev := range append(r.kept(s), nil) {
			if len(ends.Ends) == 0 && until != (Moment{}) && (ev == nil || granted.Event.Seq < ev.Seq) {
				granted.Until, granted.Due, granted.Foreseen = until, until, until
				ends.prolong(granted)
			}
			if ev == nil || !MomentOf(ev).Before(s.Lease.Cut) {
				break
			}
			due[Place{ev.Process, ev.Key}] = r.lasts(s, ev)
			all := slices.Sorted(maps.Values(due))
			if len(all) < lock.Quorum {
				continue
			}
			at := StartOf(all[len(all)-lock.Quorum])
			if len(ends.Ends) > 0 && until != at {
				ends.prolong(Declaration{Event: ev, Call: ev, Until: at, Due: at, Foreseen: at})
			}
			until = at
		}
		if len(ends.Ends) > 0 {
			s.Lease = ends
		}
	}
}

// kept are the events with which an acquisition set or prolonged its keys on the slots of
// its lock, or took them away, in order.
func (r *reading) kept(s *Section) []*trace.Event {
	var all []*trace.Event
	for _, slot := range r.slotTimes(s.Lock) {
		for _, k := range r.HoldingsOf(s.Acquisition) {
			if k.Place != slot.Place {
				continue
			}
			all = append(all, k.Set)
			all = append(all, k.Touches...)
			if k.How == Removed && AcquisitionOf(k.Ended.By) == s.Acquisition {
				all = append(all, k.Ended)
			}
		}
	}
	slices.SortFunc(all, func(a, b *trace.Event) int { return a.Seq - b.Seq })
	return slices.Compact(all)
}

// lasts is until when a key of a section is to stand after an event that set, prolonged or
// removed it. A lock that gives its keys an end by the time of day means a whole TTL, also
// where a clock that was set makes it less.
func (r *reading) lasts(s *Section, ev *trace.Event) time.Duration {
	set := func(process string) bool { return r.clocks.WasSet(process, ev.Seq) }
	switch {
	case ev.Kind == trace.KindDelete:
		return ev.At
	case ev.TTL == 0:
		return Forever
	case r.ShortLived(s.Lock, ev) && (set(ev.Process) || !r.locks[s.Lock].TrueTime && set(s.Client)):
		return ev.At + r.locks[s.Lock].TTL
	}
	return ev.At + ev.TTL
}

// ShortLived reports whether a node was told by an event to keep a key of a lock for much
// less than the lock's TTL, as the node's own clock saw it.
func (h *History) ShortLived(lock string, ev *trace.Event) bool {
	return 0 < ev.TTL && ev.TTL < h.locks[lock].TTL*9/10
}

// ClockOf is the clock that a section's lock reads. A lock that reads true time reads
// what its client's clock was before any fault.
func (h *History) ClockOf(s *Section, kind fakeclock.Kind) Clock {
	if h.locks[s.Lock].TrueTime {
		return h.clocks.Untouched(s.Client, kind)
	}
	return h.clocks.Of(s.Client, kind)
}
