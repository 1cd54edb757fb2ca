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
func (h *inquiry) blameForLeases(a, b *history.Section, at int, reason Reason) (Blame, Reason) {
	ungranted := h.ungrantedNames(a, b)
	if h.wasClockSet(a, b, at) && (ungranted != "" || h.hasShortLivedKey(a, at) || h.hasShortLivedKey(b, at)) {
		// The lock ends its keys by the time of day of its own process.
		return BlameAssumption(trace.AssumeClock), reason
	}
	if ungranted != "" {
		reason = reason.And(grantedByNobody.Reason(ungranted))
		return h.unlessRanOn(BlameLock, reason, at, a.Client, b.Client)
	}
	for _, broken := range [][]trace.Assumption{h.brokenClocks(a, b, at), h.brokenPromises(a, at), h.brokenPromises(b, at)} {
		if len(broken) > 0 {
			return BlameAssumption(broken...), reason
		}
	}
	return h.unlessRanOn(BlameLock, reason, at, a.Client, b.Client)
}

// ungrantedNames names those of two sections that no server granted, as far as the lock can
// be observed. A grant by a server that was taken for one of the lock's nodes counts as a
// grant.
func (h *inquiry) ungrantedNames(a, b *history.Section) string {
	var names []string
	for _, s := range []*history.Section{a, b} {
		if s.Granted.Ungranted && len(h.Slots(s.Lock)) > 0 && !h.isGrantedInVain(s) {
			names = append(names, h.Name(s))
		}
	}
	return strings.Join(names, " and ")
}

// hasShortLivedKey reports whether, up to the event at, a key of a section's grant was set
// to expire after much less than the lock's TTL, by the node's own clock.
func (h *inquiry) hasShortLivedKey(s *history.Section, at int) bool {
	slots := h.Slots(s.Lock)
	return slices.ContainsFunc(h.Holdings(), func(k *history.Holding) bool {
		return k.Owner == s.Acquisition && k.Set.Seq <= at && k.By != nil && slots.Has(k.Place) && h.HasShortTTL(s.Lock, k.Set)
	})
}

// brokenClocks names the broken assumptions about clients' clocks without which two leases
// that overlap since the event at would not overlap: the declared time of one lease had
// passed before the other began, but its client's clock had not counted it.
func (h *inquiry) brokenClocks(a, b *history.Section, at int) []trace.Assumption {
	since := history.Later(a.Lease.From, b.Lease.From)
	var broken []trace.Assumption
	for _, s := range []*history.Section{a, b} {
		if d := s.Lease.Latest(at); d.Event.LeaseEnd != nil && !since.Before(d.Due) {
			broken = append(broken, brokenClockAssumptions(h.ClockOf(s, d.Event.LeaseEnd.Clock), history.MomentOf(d.Call), since)...)
		}
	}
	slices.Sort(broken)
	return slices.Compact(broken)
}

// brokenClockAssumptions names the assumptions that broke if a clock counted less time than
// passed between two moments.
func brokenClockAssumptions(clock history.Clock, from, to history.Moment) []trace.Assumption {
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
func (h *inquiry) blameForSections(a, b *history.Section, reason Reason) (Blame, Reason) {
	if a.GrantsEveryone {
		return Blame{}, reason.And(grantsEveryone.Reason())
	}
	if at := a.Lease.Overlap(b.Lease); at != nil {
		return h.blameForLeases(a, b, at.Seq, reason)
	}
	for _, s := range []*history.Section{a, b} {
		if s.Lease.IsEmpty() {
			if broken := h.laggingClock(s, *s.Lease.Latest(s.Granted.Seq), s.From); len(broken) > 0 {
				return BlameAssumption(broken...), reason
			}
			reason = reason.And(endedWhenGranted.Reason(h.Name(s)))
			return h.unlessRanOn(BlameLock, reason, b.From.Seq, s.Client)
		}
		if late := s.Lease.RenewedTooLate(); late != nil {
			if broken := h.laggingClock(s, *late, history.MomentOf(late.Event)); len(broken) > 0 {
				return BlameAssumption(broken...), reason
			}
			reason = reason.And(renewedTooLate.Reason(late.Event.At, h.Name(s), late.Until))
			return h.unlessRanOn(BlameLock, reason, max(late.Event.Seq, b.From.Seq), s.Client)
		}
	}
	for _, s := range []*history.Section{a, b} {
		if h.StopsWhenNotified(s) && h.UnnotifiedFor(s, history.Interval{From: b.From, To: history.Earlier(a.To, b.To)}) > 0 {
			return h.blameForLateSignal(s, b.From, reason)
		}
	}
	return BlameInherent, reason
}

// laggingClock names the broken assumptions about its client's clock that excuse a
// section's client: because of them it could not know, at a moment, that the lease had
// ended as declared. A lock that declares the end reads the clock on which it does so. For
// another lock it is not known which clock it reads. Such a lock is excused only by a clock
// that had not yet counted the length of the lease since the lease began to count.
func (h *inquiry) laggingClock(s *history.Section, d history.Declaration, at history.Moment) []trace.Assumption {
	if ends := d.Event.LeaseEnd; ends != nil {
		declared := history.MomentOf(d.Event)
		if !declared.Before(at) {
			return nil // by the clock of the declaration itself the end had already passed
		}
		return brokenClockAssumptions(h.ClockOf(s, ends.Clock), declared, at)
	}
	if d.Until == history.Never {
		return nil
	}
	from := h.CountsFrom(s, d)
	for _, kind := range []fakeclock.Kind{fakeclock.Monotonic, fakeclock.Wall} {
		clock := h.ClockOf(s, kind)
		if counted := time.Duration(clock.Shows(at) - clock.Shows(from)); counted < d.Until.At-from.At {
			if broken := brokenClockAssumptions(clock, from, at); len(broken) > 0 {
				return broken
			}
		}
	}
	return nil
}

// blameForLateSignal says whose fault it is that a section's client, which stops when it is
// notified, had not been notified that its lease had ended when another section began.
func (h *inquiry) blameForLateSignal(s *history.Section, since history.Moment, reason Reason) (Blame, Reason) {
	last := s.Lease.Latest(since.Seq)
	if broken := h.laggingClock(s, *last, since); len(broken) > 0 {
		return BlameAssumption(broken...), reason
	}
	if s.Lost == nil {
		reason = reason.And(neverNotified.Reason(h.Name(s), last.Until))
	} else {
		reason = reason.And(notifiedTooLate.Reason(h.Name(s), last.Until, s.Lost.At))
	}
	return h.unlessRanOn(BlameLock, reason, since.Seq, s.Client)
}

// blameForTokens says whose fault it is that, of two tokens minted by a lock, the later
// grant's is not greater than the earlier grant's, as the event at shows.
func (h *inquiry) blameForTokens(old, young *history.Section, at int, reason Reason) (Blame, Reason) {
	var broken []trace.Assumption
	if h.wasClockSet(old, young, at) {
		broken = append(broken, trace.AssumeClock)
	}
	since := min(old.AcquireCall().Seq, young.AcquireCall().Seq)
	if h.NodesForgot(old.Lock, since, at) || h.isGrantedInVain(old) || h.isGrantedInVain(young) {
		broken = append(broken, trace.AssumeLockMemory)
	}
	if len(broken) > 0 {
		return BlameAssumption(broken...), reason
	}
	return h.unlessRanOn(BlameLock, reason, at, old.Client, young.Client)
}

// wasClockSet reports whether, up to the event at, a fault had set a clock, or had changed
// the rate of one, that a lock may have read for two grants: a node's clock, or that of one
// of their clients if the lock reads it.
func (h *inquiry) wasClockSet(a, b *history.Section, at int) bool {
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
func (h *inquiry) unlessRanOn(blame Blame, reason Reason, at int, clients ...string) (Blame, Reason) {
	for _, c := range clients {
		if since, ran := h.RanOn(c); ran && since.Seq <= at {
			return Blame{}, reason.And(ranOnWhilePaused.Reason(c))
		}
	}
	return blame, reason
}
