package checks

import (
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// blameForLeases returns whose fault it is that two leases overlap since the event with the
// number seq. It also returns the reason, with an explanation added if there is one. The
// functions below do the same for other violations.
func (h *judgedRun) blameForLeases(a, b *history.Section, seq int, reason Reason) (Blame, Reason) {
	ungranted := h.ungrantedNames(a, b)
	if h.wasClockSet(a, b, seq) && (ungranted != "" || h.hasShortLivedKey(a, seq) || h.hasShortLivedKey(b, seq)) {
		// Such a lock ends its keys by the wall clock, and that clock was set.
		return BlameAssumption(trace.AssumeClock), reason
	}
	if ungranted != "" {
		reason = reason.And(grantedByNobody.Reason(ungranted))
		for _, s := range []*history.Section{a, b} {
			if keys := h.keysBeside(s.Acquisition); s.Granted.Ungranted && len(keys) > 0 {
				reason = reason.And(keptUnderOtherKey.Reason(h.Name(s), keys[0]))
			}
			if k := h.keySetAgain(s.Acquisition); s.Granted.Ungranted && k != nil {
				reason = reason.And(setForeignKeyAgain.Reason(h.Name(s), k.Key, k.Place.Node, h.nameOf(k.Owner)))
			}
		}
		return h.blameUnlessRanWhilePaused(BlameLock, reason, seq, a.Client, b.Client)
	}
	for _, broken := range [][]trace.Assumption{h.brokenClocks(a, b, seq), h.brokenPromises(a, seq), h.brokenPromises(b, seq)} {
		if len(broken) > 0 {
			return BlameAssumption(broken...), reason
		}
	}
	return h.blameUnlessRanWhilePaused(BlameLock, reason, seq, a.Client, b.Client)
}

// ungrantedNames returns the names of the critical sections, a, b or both, for which no server made
// a grant. It returns "" if the keys of the lock are not known. A replaced master is no longer one
// of the lock's nodes, but a grant by it counts as a grant.
func (h *judgedRun) ungrantedNames(a, b *history.Section) string {
	var names []string
	for _, s := range []*history.Section{a, b} {
		if s.Granted.Ungranted && len(h.Slots(s.Lock)) > 0 && !h.hasLostKeysAtGrant(s) {
			names = append(names, h.Name(s))
		}
	}
	return strings.Join(names, " and ")
}

// hasShortLivedKey reports whether, up to the event with the number seq, a key of a section's grant
// was set to expire after much less than the lock's TTL, as the node's own clock counts.
func (h *judgedRun) hasShortLivedKey(s *history.Section, seq int) bool {
	slots := h.Slots(s.Lock)
	return slices.ContainsFunc(h.Holdings(), func(k *history.Holding) bool {
		return k.Owner == s.Acquisition && k.Set.Seq <= seq && k.By != nil && slots.Contains(k.Place) && h.HasShortTTL(s.Lock, k.Set)
	})
}

// brokenClocks returns the broken assumptions about clients' clocks that made two leases overlap at
// the event with the number seq. A clock breaks them if one lease had ended in true time before the
// other began, but the clock of the first lease's client had not yet counted the length of that
// lease.
func (h *judgedRun) brokenClocks(a, b *history.Section, seq int) []trace.Assumption {
	since := history.Later(a.Lease.From, b.Lease.From)
	var broken []trace.Assumption
	for _, s := range []*history.Section{a, b} {
		if d := s.Lease.Latest(seq); d.Event.LeaseEnd != nil && !since.Before(d.Due) {
			broken = append(broken, brokenClockAssumptions(h.ClockOf(s, d.Event.LeaseEnd.Clock), history.MomentOf(d.Call), since)...)
		}
	}
	slices.Sort(broken)
	return slices.Compact(broken)
}

// brokenClockAssumptions returns the assumptions that broke if a clock counted less time
// than passed between two moments.
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

// blameForSections returns whose fault it is that two sections overlap. b is the section
// that was granted later.
func (h *judgedRun) blameForSections(a, b *history.Section, reason Reason) (Blame, Reason) {
	if a.GrantsEveryone {
		return Blame{}, reason.And(grantsEveryone.Reason())
	}
	if at := a.Lease.Overlap(b.Lease); at != nil {
		return h.blameForLeases(a, b, at.Seq, reason)
	}
	for _, s := range []*history.Section{a, b} {
		if s.Lease.IsEmpty() {
			if broken := h.clockExcuse(s, *s.Lease.Latest(s.Granted.Seq), s.From); len(broken) > 0 {
				return BlameAssumption(broken...), reason
			}
			reason = reason.And(endedWhenGranted.Reason(h.Name(s)))
			return h.blameUnlessRanWhilePaused(BlameLock, reason, b.From.Seq, s.Client)
		}
		if late := s.Lease.RenewedTooLate(); late != nil {
			if broken := h.clockExcuse(s, *late, history.MomentOf(late.Event)); len(broken) > 0 {
				return BlameAssumption(broken...), reason
			}
			reason = reason.And(renewedTooLate.Reason(late.Event.At, h.Name(s), late.Until))
			return h.blameUnlessRanWhilePaused(BlameLock, reason, max(late.Event.Seq, b.From.Seq), s.Client)
		}
	}
	for _, s := range []*history.Section{a, b} {
		if h.StopsWhenNotified(s) && h.UnnotifiedFor(s, history.Interval{From: b.From, To: history.Earlier(a.To, b.To)}) > 0 {
			return h.blameForLateSignal(s, b.From, reason)
		}
	}
	return BlameInherent, reason
}

// clockExcuse returns the broken clock assumptions that kept a client from knowing, at a moment,
// that its lease had ended; none if the client could know it. d is the lock's declaration of the
// lease's end. If the lock declared the end on a clock, only that clock matters. Otherwise the lock
// may have read the client's monotonic or wall clock. Such a clock is an excuse only if it had not
// yet counted the length of the lease.
func (h *judgedRun) clockExcuse(s *history.Section, d history.Declaration, at history.Moment) []trace.Assumption {
	if ends := d.Event.LeaseEnd; ends != nil {
		declared := history.MomentOf(d.Event)
		if !declared.Before(at) {
			return nil // by the clock on which the lock declared the end, it had already passed
		}
		return brokenClockAssumptions(h.ClockOf(s, ends.Clock), declared, at)
	}
	if d.Until == history.Never {
		return nil
	}
	from := h.CountsFrom(s, d)
	for _, kind := range []fakeclock.Kind{fakeclock.Monotonic, fakeclock.Wall} {
		clock := h.ClockOf(s, kind)
		if counted := time.Duration(clock.ReadingAt(at) - clock.ReadingAt(from)); counted < d.Until.At-from.At {
			if broken := brokenClockAssumptions(clock, from, at); len(broken) > 0 {
				return broken
			}
		}
	}
	return nil
}

// blameForLateSignal returns whose fault it is that a client was still in its section when
// another section began. The client stops when it is notified, but its lock had not
// notified it that its lease had ended.
func (h *judgedRun) blameForLateSignal(s *history.Section, since history.Moment, reason Reason) (Blame, Reason) {
	last := s.Lease.Latest(since.Seq)
	if broken := h.clockExcuse(s, *last, since); len(broken) > 0 {
		return BlameAssumption(broken...), reason
	}
	if s.Lost == nil {
		reason = reason.And(neverNotified.Reason(h.Name(s), last.Until))
	} else {
		reason = reason.And(notifiedTooLate.Reason(h.Name(s), last.Until, s.Lost.At))
	}
	return h.blameUnlessRanWhilePaused(BlameLock, reason, since.Seq, s.Client)
}

// blameForTokens returns whose fault it is if the token of a later grant, young, is not
// greater than the token of an earlier grant, old. The lock minted both tokens. The event
// with the number seq shows the violation.
func (h *judgedRun) blameForTokens(old, young *history.Section, seq int, reason Reason) (Blame, Reason) {
	var broken []trace.Assumption
	if h.wasClockSet(old, young, seq) {
		broken = append(broken, trace.AssumeClock)
	}
	since := min(old.AcquireCall().Seq, young.AcquireCall().Seq)
	if h.NodesForgot(old.Lock, since, seq) || h.hasLostKeysAtGrant(old) || h.hasLostKeysAtGrant(young) {
		broken = append(broken, trace.AssumeLockMemory)
	}
	if len(broken) > 0 {
		return BlameAssumption(broken...), reason
	}
	return h.blameUnlessRanWhilePaused(BlameLock, reason, seq, old.Client, young.Client)
}

// wasClockSet reports whether, up to the event with the number seq, a fault had set a clock that
// the lock may have read for one of two grants, or had changed the rate of that clock. The lock may
// read the clocks of all processes that are not clients. Unless it reads true time, it may also
// read the clocks of the two clients.
func (h *judgedRun) wasClockSet(a, b *history.Section, seq int) bool {
	for _, p := range h.Trace.Processes {
		read := p.Role != trace.RoleClient || !h.Lock(a.Lock).TrueTime && (p.Name == a.Client || p.Name == b.Client)
		if read && h.Clocks().WasSet(p.Name, seq) {
			return true
		}
	}
	return false
}

// blameUnlessRanWhilePaused returns the given blame, unless one of the clients had done
// something while it was paused, up to the event with the number seq. Then it returns no blame,
// because a real pause would have prevented that (see [history.History.RanOn]).
func (h *judgedRun) blameUnlessRanWhilePaused(blame Blame, reason Reason, seq int, clients ...string) (Blame, Reason) {
	for _, c := range clients {
		if since, ran := h.RanOn(c); ran && since.Seq <= seq {
			return Blame{}, reason.And(ranOnWhilePaused.Reason(c))
		}
	}
	return blame, reason
}
