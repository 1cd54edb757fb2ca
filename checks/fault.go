package checks

import (
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// blameForLeases says whose fault it is that two leases overlap since the event at.
func (h *inquiry) leaseFault(a, b *history.Section, at int, reason Reason) (Blame, Reason) {
	uninvited := h.uninvited(a, b)
	if h.clockSet(a, b, at) && (uninvited != "" || h.shortLived(a, at) || h.shortLived(b, at)) {
		// The lock ends its keys by the time of day of its own process.
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

// ungrantedNames names those of two sections that no server granted, as far as the lock can
// be observed. A grant by a server that was taken for one of the lock's nodes counts as a
// grant.
func (h *inquiry) uninvited(a, b *history.Section) string {
	var names []string
	for _, s := range []*history.Section{a, b} {
		if s.Granted.Ungranted && len(h.Slots(s.Lock)) > 0 && !h.inVain(s) {
			names = append(names, h.Name(s))
		}
	}
	return strings.Join(names, " and ")
}

// hasShortLivedKey reports whether, up to the event at, a key of a section's grant was set
// to expire after much less than the lock's TTL, by the node's own clock.
func (h *inquiry) shortLived(s *history.Section, at int) bool {
	slots := h.Slots(s.Lock)
	return slices.ContainsFunc(h.Holdings(), func(k *history.Holding) bool {
		return k.Owner == s.Acquisition && k.Set.Seq <= at && k.By != nil && slots.Has(k.Place) && h.ShortLived(s.Lock, k.Set)
	})
}

// brokenClocks names the broken assumptions about clients' clocks without which two leases
// that overlap since the event at would not overlap: the declared time of one lease had
// passed before the other began, but its client's clock had not counted it.
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

// brokenClockAssumptions names the assumptions that broke if a clock counted less time than
// passed between two moments.
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

// blameForSections says whose fault it is that two sections overlap since b's was granted.
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

// laggingClock names the broken assumptions about its client's clock that excuse a
// section's client: because of them it could not know, at a moment, that the lease had
// ended as declared. A lock that declares the end reads the clock on which it does so. For
// another lock it is not known which clock it reads. Such a lock is excused only by a clock
// that had not yet counted the length of the lease since the lease began to count.
func (h *inquiry) lagged(s *history.Section, d history.Declaration, at history.Moment) []trace.Assumption {
	if ends := d.Event.Ends; ends != nil {
		declared := history.MomentOf(d.Event)
		if !declared.Before(at) {
			return nil // by the clock of the declaration itself the end had already passed
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

// blameForLateSignal says whose fault it is that a section's client, which stops when it is
// notified, had not been notified that its lease had ended when another section began.
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

// blameForTokens says whose fault it is that, of two tokens minted by a lock, the later
// grant's is not greater than the earlier grant's, as the event at shows.
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

// wasClockSet reports whether, up to the event at, a fault had set a clock, or had changed
// the rate of one, that a lock may have read for two grants: a node's clock, or that of one
// of their clients if the lock reads it.
func (h *inquiry) clockSet(a, b *history.Section, at int) bool {
	for _, p := range h.Trace.Processes {
		read := p.Role != trace.RoleClient || !h.Lock(a.Lock).TrueTime && (p.Name == a.Client || p.Name == b.Client)
		if read && h.Clocks().WasSet(p.Name, at) {
			return true
		}
	}
	return false
}

// unlessRanOn returns no blame if a paused process took part after it had run on: a real
// pause would have stopped it. Otherwise it returns the given blame.
func (h *inquiry) unlessRanOn(fault Blame, reason Reason, at int, clients ...string) (Blame, Reason) {
	for _, c := range clients {
		if since, ran := h.RanOn(c); ran && since.Seq <= at {
			return Blame{}, reason.And(ranOnWhilePaused.Reason(c))
		}
	}
	return fault, reason
}
