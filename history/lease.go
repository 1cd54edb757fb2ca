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
	// Declarations are the ends of the lease as the lock declared them, in order: when it
	// granted the lease, and each time it renewed it.
	Declarations []Declaration
	// CutAt is when the lease was released or lost, or its client crashed; [Never] if none of
	// these happened.
	CutAt Moment
}

// A Declaration says when a lease ends, as one event declared it. Usually the event is the
// return of a call of acquire or extend.
type Declaration struct {
	Event *trace.Event
	// Call is the event with which that call began. If the lock renewed the lease by
	// itself, it is the request that renewed the lease's keys, or Event if no such request
	// is known.
	Call *trace.Event
	// Until is when the lease ends.
	Until Moment
	// Due is what Until would be if the client's clock had counted true time since the
	// call.
	Due Moment
	// Foreseen is what Until would be if nothing had changed the client's clock after
	// Event: the end that could be predicted then.
	Foreseen Moment
}

// Until returns when the lease ends by the declarations up to the event seq.
func (l Lease) Until(seq int) Moment {
	if d := l.Latest(seq); d != nil {
		return Earlier(d.Until, l.CutAt)
	}
	return Earlier(l.From, l.CutAt)
}

// Latest returns the last declaration up to the event seq; nil if there is none.
func (l Lease) Latest(seq int) *Declaration {
	for i := len(l.Declarations) - 1; i >= 0; i-- {
		if l.Declarations[i].Event.Seq <= seq {
			return &l.Declarations[i]
		}
	}
	return nil
}

// End returns when the lease ends by all its declarations.
func (l Lease) End() Moment { return l.Until(Never.Seq) }

// Longest returns the latest end that any declaration gave the lease.
func (l Lease) Longest() Moment {
	last := l.From
	for _, d := range l.Declarations {
		last = Later(last, d.Until)
	}
	return Earlier(last, l.CutAt)
}

// IsEmpty reports whether the lease had already ended when it was granted.
func (l Lease) IsEmpty() bool { return !l.From.Before(l.End()) }

// RenewedTooLate returns the first renewal that was declared when both the lease's old end and its
// new end had passed; nil if there is none. A renewal by a session does not count: the cluster
// acknowledged the client's sign of life in time, even if the lock processed the acknowledgement
// late.
func (l Lease) RenewedTooLate() *Declaration {
	for i := 1; i < len(l.Declarations); i++ {
		d := &l.Declarations[i]
		if declaredAt := MomentOf(d.Event); d.Event.Kind != trace.KindAlive && !declaredAt.Before(d.Until) && !declaredAt.Before(l.Until(d.Event.Seq-1)) {
			return d
		}
	}
	return nil
}

// declareEnd adds a declaration of a new end. A lease that had already ended continues without a
// gap, because its holder does not notice the end. A new end in the past does not revoke time that
// has passed: if the lease was to last until 5s, and at 3s the lock declares the end 2s, the lease
// ends at 3s.
func (l *Lease) declareEnd(d Declaration) {
	d.Until = Later(d.Until, Earlier(l.Until(d.Event.Seq), MomentOf(d.Event)))
	l.Declarations = append(l.Declarations, d)
}

// Overlap returns the event that made two leases overlap: the later grant, or the extend of
// a lease that had already ended. It returns nil if they do not overlap.
func (l Lease) Overlap(o Lease) *trace.Event {
	start := Later(l.From, o.From)
	for i, j := 0, 0; i < len(l.Declarations) || j < len(o.Declarations); {
		var ev *trace.Event // the next declaration of either lease
		if j == len(o.Declarations) || i < len(l.Declarations) && l.Declarations[i].Event.Seq < o.Declarations[j].Event.Seq {
			ev = l.Declarations[i].Event
			i++
		} else {
			ev = o.Declarations[j].Event
			j++
		}
		if i > 0 && j > 0 && start.Before(Earlier(Earlier(l.Declarations[i-1].Until, l.CutAt), Earlier(o.Declarations[j-1].Until, o.CutAt))) {
			return ev
		}
	}
	return nil
}

// newDeclaration returns the declaration of a lease that was granted or renewed by ev, the
// end of an acquire or an extend. call is the beginning of that step; nil if the lock
// renewed the lease by itself.
func (r *reading) newDeclaration(s *Section, call, ev *trace.Event) Declaration {
	if call == nil {
		call = ev
	}
	d := Declaration{Event: ev, Call: call}
	switch ttl := r.locks[s.Lock].TTL; {
	case ev.LeaseEnd == nil && r.signsOfLife[sessionName{s.Client, s.Granted.Session}] != nil:
		return declareFromSession(ev, call, r.signsOfLife[sessionName{s.Client, s.Granted.Session}])
	case ev.LeaseEnd != nil:
		clock := r.ClockOf(s, ev.LeaseEnd.Clock)
		d.Until = clock.trueTimeOf(ev.LeaseEnd.Nanos, MomentOf(ev))
		d.Foreseen = clock.withoutChangesAfter(MomentOf(ev)).trueTimeOf(ev.LeaseEnd.Nanos, MomentOf(ev))
		d.Due = StartOf(call.At + time.Duration(ev.LeaseEnd.Nanos-clock.ReadingAt(MomentOf(call))))
	case s.Notifies || ttl == 0: // the lock declares nothing: see deriveEndsFromSlots
		d.Until, d.Due, d.Foreseen = Never, Never, Never
	default:
		d.Until = StartOf(call.At + ttl)
		d.Due, d.Foreseen = d.Until, d.Until
	}
	return d
}

// deriveEndsFromSlots derives when leases end from the keys on the lock's slots. It applies to
// locks that renew leases by themselves, promise to notify of a loss, and declare no end of the
// lease or of its renewals. Such a lease ends when, on a quorum of slots, the keys' TTL has passed
// since they were last set or renewed. If the keys are not known, or were never on a quorum, the
// lease lasts until the lock's signal.
func (r *reading) deriveEndsFromSlots() {
	for _, s := range r.sections {
		lock := r.locks[s.Lock]
		declaresNothing := !slices.ContainsFunc(s.Lease.Declarations, func(d Declaration) bool { return d.Event.LeaseEnd != nil })
		if !s.Notifies || lock.TTL == 0 || r.signsOfLife[sessionName{s.Client, s.Granted.Session}] != nil || !declaresNothing && !r.renewsUndeclared(s) {
			continue
		}
		derived := Lease{From: s.Lease.From, CutAt: s.Lease.CutAt}
		due := map[Place]time.Duration{} // by slot
		lastEnd, granted := Moment{}, s.Lease.Declarations[0]
		for _, ev := range append(r.keyEvents(s), nil) {
			if len(derived.Declarations) == 0 && lastEnd != (Moment{}) && (ev == nil || granted.Event.Seq < ev.Seq) {
				granted.Until, granted.Due, granted.Foreseen = lastEnd, lastEnd, lastEnd
				derived.declareEnd(granted)
			}
			if ev == nil || !MomentOf(ev).Before(s.Lease.CutAt) {
				break
			}
			due[Place{ev.Process, ev.Key}] = r.keyEnd(s, ev)
			sortedDue := slices.Sorted(maps.Values(due))
			if len(sortedDue) < lock.Quorum {
				continue
			}
			leaseEnd := StartOf(sortedDue[len(sortedDue)-lock.Quorum])
			if len(derived.Declarations) > 0 && lastEnd != leaseEnd {
				derived.declareEnd(Declaration{Event: ev, Call: ev, Until: leaseEnd, Due: leaseEnd, Foreseen: leaseEnd})
			}
			lastEnd = leaseEnd
		}
		if len(derived.Declarations) > 0 {
			s.Lease = derived
		}
	}
}

// keyEvents returns the events with which an acquisition set, renewed or removed its keys
// on the slots of its lock, in order.
func (r *reading) keyEvents(s *Section) []*trace.Event {
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

// keyEnd returns until when a key of a critical section is meant to exist after an event that set,
// renewed or removed it. Some locks give their keys an end by the wall clock. If a fault has
// set a clock and such a key gets a much shorter TTL, keyEnd returns the end after a whole TTL
// of the lock. For a removed key it returns the time of the event.
func (r *reading) keyEnd(s *Section, ev *trace.Event) time.Duration {
	wasSet := func(process string) bool { return r.clocks.WasSet(process, ev.Seq) }
	switch {
	case ev.Kind == trace.KindDelete:
		return ev.At
	case ev.TTL == 0:
		return Forever
	case r.HasShortTTL(s.Lock, ev) && (wasSet(ev.Process) || !r.locks[s.Lock].TrueTime && wasSet(s.Client)):
		return ev.At + r.locks[s.Lock].TTL
	}
	return ev.At + ev.TTL
}

// HasShortTTL reports whether an event set a key of a lock to expire after much less than
// the lock's TTL, by the node's own clock.
func (h *History) HasShortTTL(lock string, ev *trace.Event) bool {
	return 0 < ev.TTL && ev.TTL < h.locks[lock].TTL*9/10
}

// ClockOf returns the clock that a section's lock reads. Usually that is the client's clock. If the
// lock reads true time, it is the client's clock as it would be without faults.
func (h *History) ClockOf(s *Section, kind fakeclock.Kind) Clock {
	if h.locks[s.Lock].TrueTime {
		return h.clocks.Unfaulted(s.Client, kind)
	}
	return h.clocks.Of(s.Client, kind)
}
