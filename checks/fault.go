package checks

import (
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// leaseFault says whose fault it is that two leases overlap since the event at.
func (h *inquiry) leaseFault(a, b *history.Section, at int, reason Reason) (Blame, Reason) {
	uninvited := h.uninvited(a, b)
	if h.clockSet(a, b, at) && (uninvited != "" || h.shortLived(a, at) || h.shortLived(b, at)) {
		// The lock gives its keys an end by the time of day, as its own process reads it.
		return FaultAssumption(trace.AssumeClock), reason
	}
	if uninvited != "" {
		reason = reason.And(grantedByNobody.Reason(uninvited))
		return h.unlessRanOn(FaultLock, reason, at, a.Client, b.Client)
	}
	for _, broken := range [][]trace.Assumption{h.misled(a, b, at), h.unkept(a, at), h.unkept(b, at)} {
		if len(broken) > 0 {
			return FaultAssumption(broken...), reason
		}
	}
	return h.unlessRanOn(FaultLock, reason, at, a.Client, b.Client)
}

// uninvited names those of two sections that were granted by nobody, as far as
// one can watch the lock, nor by who was taken for one of its nodes.
func (h *inquiry) uninvited(a, b *history.Section) string {
	var names []string
	for _, s := range []*history.Section{a, b} {
		if s.Granted.Ungranted && len(h.Slots(s.Lock)) > 0 && !h.inVain(s) {
			names = append(names, h.Name(s))
		}
	}
	return strings.Join(names, " and ")
}

// shortLived reports whether a node was told, up to the event at, to keep a key of a
// section's grant for much less than the lock's TTL, as the node's own clock saw it.
func (h *inquiry) shortLived(s *history.Section, at int) bool {
	slots := h.Slots(s.Lock)
	return slices.ContainsFunc(h.Holdings(), func(k *history.Holding) bool {
		return k.Owner == s.Acquisition && k.Set.Seq <= at && k.By != nil && slots.Has(k.Place) && h.ShortLived(s.Lock, k.Set)
	})
}

// misled names the assumptions about clients' clocks without whose breaking two
// leases that overlap since the event at would not: the time for which one of
// them was declared was over before the other began, but its client's clock had
// not counted it.
func (h *inquiry) misled(a, b *history.Section, at int) []trace.Assumption {
	since := history.Later(a.Lease.From, b.Lease.From)
	var broken []trace.Assumption
	for _, s := range []*history.Section{a, b} {
		if d := s.Lease.Latest(at); d.Event.Ends != nil && !since.Before(d.Due) {
			broken = append(broken, uncounted(h.ClockOf(s, d.Event.Ends.Clock), history.MomentOf(d.Call), since)...)
		}
	}
	slices.Sort(broken)
	return slices.Compact(broken)
}

// uncounted names the assumptions that broke when a clock counted less time than
// passed from one moment to another.
func uncounted(clock history.Clock, from, to history.Moment) []trace.Assumption {
	var broken []trace.Assumption
	stoodStill, behind := clock.Uncounted(from, to)
	if behind {
		broken = append(broken, trace.AssumeClock)
	}
	if stoodStill {
		broken = append(broken, trace.AssumeProcess)
	}
	return broken
}

// sectionFault says whose fault it is that two sections overlap since b's was
// granted.
func (h *inquiry) sectionFault(a, b *history.Section, reason Reason) (Blame, Reason) {
	if a.Open {
		return Blame{}, reason.And(everybodyIn.Reason())
	}
	if at := a.Lease.Overlap(b.Lease); at != nil {
		return h.leaseFault(a, b, at.Seq, reason)
	}
	for _, s := range []*history.Section{a, b} {
		if s.Lease.Empty() {
			if broken := h.lagged(s, *s.Lease.Latest(s.Granted.Seq), s.From); len(broken) > 0 {
				return FaultAssumption(broken...), reason
			}
			reason = reason.And(endedWhenGranted.Reason(h.Name(s)))
			return h.unlessRanOn(FaultLock, reason, b.From.Seq, s.Client)
		}
		if late := s.Lease.ProlongedTooLate(); late != nil {
			if broken := h.lagged(s, *late, history.MomentOf(late.Event)); len(broken) > 0 {
				return FaultAssumption(broken...), reason
			}
			reason = reason.And(prolongedTooLate.Reason(late.Event.At, h.Name(s), late.Until))
			return h.unlessRanOn(FaultLock, reason, max(late.Event.Seq, b.From.Seq), s.Client)
		}
	}
	for _, s := range []*history.Section{a, b} {
		if h.Heeds(s) && h.Untold(s, history.Interval{From: b.From, To: history.Earlier(a.To, b.To)}) > 0 {
			return h.untoldFault(s, b.From, reason)
		}
	}
	return FaultInherent, reason
}

// lagged names the assumptions about its client's clocks that broke so that a section's
// client could not know, at a moment, that the lease had ended as a declaration says. A lock
// that declares the end reads the clock on which it does so. Of another lock nobody knows
// which clock it reads; it is excused only if that clock had not yet counted the length of
// the lease since the lease began to count.
func (h *inquiry) lagged(s *history.Section, d history.Declaration, at history.Moment) []trace.Assumption {
	if ends := d.Event.Ends; ends != nil {
		declared := history.MomentOf(d.Event)
		if !declared.Before(at) {
			return nil // by the clock of the declaration itself the end had passed
		}
		return uncounted(h.ClockOf(s, ends.Clock), declared, at)
	}
	if d.Until == history.Never {
		return nil
	}
	from := h.Heard(s, d)
	for _, kind := range []fakeclock.Kind{fakeclock.Monotonic, fakeclock.Wall} {
		clock := h.ClockOf(s, kind)
		if counted := time.Duration(clock.Shows(at) - clock.Shows(from)); counted < d.Until.At-from.At {
			if broken := uncounted(clock, from, at); len(broken) > 0 {
				return broken
			}
		}
	}
	return nil
}

// untoldFault says whose fault it is that a section's client, which heeds its lock's signal
// of loss, was not told that its lease had ended when another's section began.
func (h *inquiry) untoldFault(s *history.Section, since history.Moment, reason Reason) (Blame, Reason) {
	last := s.Lease.Latest(since.Seq)
	if broken := h.lagged(s, *last, since); len(broken) > 0 {
		return FaultAssumption(broken...), reason
	}
	if s.Lost == nil {
		reason = reason.And(neverTold.Reason(h.Name(s), last.Until))
	} else {
		reason = reason.And(toldTooLate.Reason(h.Name(s), last.Until, s.Lost.At))
	}
	return h.unlessRanOn(FaultLock, reason, since.Seq, s.Client)
}

// tokenFault says whose fault it is that the token that a lock minted for one of
// two grants is not greater than that of the older one, as the event at shows.
func (h *inquiry) tokenFault(old, young *history.Section, at int, reason Reason) (Blame, Reason) {
	var broken []trace.Assumption
	if h.clockSet(old, young, at) {
		broken = append(broken, trace.AssumeClock)
	}
	since := min(old.Called().Seq, young.Called().Seq)
	if h.Forgot(old.Lock, since, at) || h.inVain(old) || h.inVain(young) {
		broken = append(broken, trace.AssumeLockMemory)
	}
	if len(broken) > 0 {
		return FaultAssumption(broken...), reason
	}
	return h.unlessRanOn(FaultLock, reason, at, old.Client, young.Client)
}

// clockSet reports whether a fault had set a clock that a lock may have read for
// two grants, up to the event at, or had changed its rate: a node's, or of one of
// their clients if the lock reads that.
func (h *inquiry) clockSet(a, b *history.Section, at int) bool {
	for _, p := range h.Trace.Processes {
		read := p.Role != trace.RoleClient || !h.Lock(a.Lock).TrueTime && (p.Name == a.Client || p.Name == b.Client)
		if read && h.Clocks().WasSet(p.Name, at) {
			return true
		}
	}
	return false
}

// unlessRanOn blames nobody for what a paused process took part in after it had
// run on: a real pause would have stopped it.
func (h *inquiry) unlessRanOn(fault Blame, reason Reason, at int, clients ...string) (Blame, Reason) {
	for _, c := range clients {
		if since, ran := h.RanOn(c); ran && since.Seq <= at {
			return Blame{}, reason.And(ranOnWhilePaused.Reason(c))
		}
	}
	return fault, reason
}
