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
	Ends []Declaration
	// CutAt is when the lease was released or lost, or its client crashed.
	Cut Moment
}

// A Declaration is the end of a lease as one event declared it, mostly the end of an
// acquire or an extend.
type Declaration struct {
	Event *trace.Event
	// Call is the beginning of that step. If the lock renewed the lease by itself, it is
	// the request that renewed the lease's keys, or Event if no such request is known.
	Call  *trace.Event
	Until Moment
	// Due is what Until would be if the client's clock had kept true time since the call.
	Due Moment
	// Foreseen is what Until would be if nothing had changed the client's clock afterwards:
	// the end that could be predicted at the time.
	Foreseen Moment
}

// Until returns when the lease ends, as declared by the event seq and those before it.
func (l Lease) Until(seq int) Moment {
	if d := l.Latest(seq); d != nil {
		return Earlier(d.Until, l.Cut)
	}
	return Earlier(l.From, l.Cut)
}

// Latest returns the last declaration up to the event seq; nil if there is none.
func (l Lease) Latest(seq int) *Declaration {
	for i := len(l.Ends) - 1; i >= 0; i-- {
		if l.Ends[i].Event.Seq <= seq {
			return &l.Ends[i]
		}
	}
	return nil
}

// End returns when the lease ends.
func (l Lease) End() Moment { return l.Until(Never.Seq) }

// Longest returns the latest end that was ever declared for the lease.
func (l Lease) Longest() Moment {
	last := l.From
	for _, d := range l.Ends {
		last = Later(last, d.Until)
	}
	return Earlier(last, l.Cut)
}

// IsEmpty reports whether the lease had ended when it was granted.
func (l Lease) Empty() bool { return !l.From.Before(l.End()) }

// RenewedTooLate returns the first renewal that was declared when both the lease's old
// end and its new end had passed; nil if there is none. A sign that a session is alive does
// not count: the server gave it in time, though the lock may process it late.
func (l Lease) ProlongedTooLate() *Declaration {
	for i := 1; i < len(l.Ends); i++ {
		d := &l.Ends[i]
		if said := MomentOf(d.Event); d.Event.Kind != trace.KindAlive && !said.Before(d.Until) && !said.Before(l.Until(d.Event.Seq-1)) {
			return d
		}
	}
	return nil
}

// declareEnd adds a declaration of a new end. A lease that had ended continues as if it had
// not, because its holder learns of no gap. A new end in the past does not revoke what had
// been promised until now.
func (l *Lease) prolong(d Declaration) {
	d.Until = Later(d.Until, Earlier(l.Until(d.Event.Seq), MomentOf(d.Event)))
	l.Ends = append(l.Ends, d)
}

// Overlap returns the event that made two leases overlap: the later grant, or the extend of
// a lease that had already ended. It returns nil if they do not overlap.
func (l Lease) Overlap(o Lease) *trace.Event {
	both := Later(l.From, o.From)
	for i, j := 0, 0; i < len(l.Ends) || j < len(o.Ends); {
		var ev *trace.Event // the next declaration of either lease
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

// newDeclaration derives the declaration of a lease that was granted or renewed by ev, the
// end of an acquire or an extend. call is nil if the lock renewed it by itself.
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
	case s.Notifies || ttl == 0: // the lock declares nothing: see deriveEndsFromSlots
		d.Until, d.Due, d.Foreseen = Never, Never, Never
	default:
		d.Until = StartOf(call.At + ttl)
		d.Due, d.Foreseen = d.Until, d.Until
	}
	return d
}

// deriveEndsFromSlots derives when leases end from the keys on the lock's slots. It applies
// to locks that renew leases by themselves, promise to notify of a loss, and declare no end
// of the lease or of its renewals. Such a lease ends when the keys of the acquisition have
// existed on a quorum of slots for their TTL since they were last set or renewed. If the
// keys are not known, or were never on a quorum, the lease lasts until the lock's signal.
func (r *reading) dateBySlots() {
	for _, s := range r.sections {
		lock := r.locks[s.Lock]
		silent := !slices.ContainsFunc(s.Lease.Ends, func(d Declaration) bool { return d.Event.Ends != nil })
		if !s.Notifies || lock.TTL == 0 || r.lives[life{s.Client, s.Granted.Session}] != nil || !silent && !r.renewsUndeclared(s) {
			continue
		}
		ends := Lease{From: s.Lease.From, Cut: s.Lease.Cut}
		due := map[Place]time.Duration{} // by slot
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

// keyEvents returns the events with which an acquisition set, renewed or removed its keys
// on the slots of its lock, in order.
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

// keyEnd returns until when a key of a section is meant to exist after an event that set,
// renewed or removed it. If a lock gives its keys an end by the time of day, and a clock
// that was set shortens it, the lock still means a whole TTL.
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

// HasShortTTL reports whether an event set a key of a lock to expire after much less than
// the lock's TTL, by the node's own clock.
func (h *History) ShortLived(lock string, ev *trace.Event) bool {
	return 0 < ev.TTL && ev.TTL < h.locks[lock].TTL*9/10
}

// ClockOf returns the clock that a section's lock reads. A lock that reads true time reads
// its client's clock as it was before any fault.
func (h *History) ClockOf(s *Section, kind fakeclock.Kind) Clock {
	if h.locks[s.Lock].TrueTime {
		return h.clocks.Untouched(s.Client, kind)
	}
	return h.clocks.Of(s.Client, kind)
}
