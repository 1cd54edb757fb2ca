package checks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/sim"
)

// Whose fault a violation is.
const (
	// FaultLock is a violation with which every node had done what the lock
	// relies on: two overlapping leases while every node kept every key for its
	// TTL of true time, a grant whose lease had ended before acquire returned, a
	// key taken from another acquisition, no progress while no fault was active.
	FaultLock = "lock"
	// FaultInherent is two sections that overlap although their leases do not.
	// No lock whose grants end by time can avoid it.
	FaultInherent = "inherent: needs fencing"
	// FaultAssumption begins the name of an assumption that broke: two leases
	// overlap because a node lost a key or let it end too early.
	FaultAssumption = "assumption: "
)

// The assumptions that a node can break.
const (
	assumeClock  = "clock"
	assumeMemory = "lock memory"
)

// leaseFault says whose fault it is that two leases overlap since the event at.
func (h *history) leaseFault(a, b *section, at int, reason string) (fault, why string) {
	if broken := h.broken(a.acquisition, a.lock, at); len(broken) > 0 {
		return FaultAssumption + strings.Join(broken, ", "), reason
	}
	return h.unlessRanOn(FaultLock, reason, at, a.client, b.client)
}

// sectionFault says whose fault it is that two sections overlap since b's was
// granted.
func (h *history) sectionFault(a, b *section, reason string) (fault, why string) {
	if at := a.lease.overlap(b.lease); at != nil {
		return h.leaseFault(a, b, at.Seq, reason)
	}
	for _, s := range []*section{a, b} {
		if s.lease.empty() {
			reason += fmt.Sprintf("; %s's lease had already ended when it was granted", h.name(s))
			return h.unlessRanOn(FaultLock, reason, b.from.seq, s.client)
		}
	}
	return FaultInherent, reason
}

// unlessRanOn blames nobody for what a paused process took part in after it had
// run on: a real pause would have stopped it.
func (h *history) unlessRanOn(fault, reason string, at int, clients ...string) (string, string) {
	for _, c := range clients {
		if since, ran := h.ranOn[c]; ran && since.seq <= at {
			return "", reason + fmt.Sprintf("; %s ran on while it was paused, so this is not held against the lock", c)
		}
	}
	return fault, reason
}

// faultActive reports whether a fault was still active at the end of the run.
func (h *history) faultActive() bool {
	active := map[int]bool{}
	for i := range h.trace.Events {
		switch ev := &h.trace.Events[i]; ev.Kind {
		case sim.KindStrike:
			if !ev.Instant {
				active[ev.Fault] = true
			}
		case sim.KindLift:
			delete(active, ev.Fault)
		}
	}
	return len(active) > 0
}

// broken names the assumptions that nodes broke, up to the event at, by not
// keeping a key of a lock for its TTL of true time: those of the acquisition at
// hand if there are any, else those of anybody. What a command removed, the node
// did not lose.
func (h *history) broken(holder acquisition, lock string, at int) []string {
	var own, all []string
	lose := func(owner acquisition, assumption string) {
		all = append(all, assumption)
		if owner == holder {
			own = append(own, assumption)
		}
	}
	k, s := newKeys(), h.slots(lock)
	for i := range h.trace.Events {
		ev := &h.trace.Events[i]
		if ev.Seq > at {
			break
		}
		if ev.Kind == sim.KindPromote {
			for _, p := range s {
				was, is := k.standing[p], k.standing[place{ev.Process, p.key}]
				if p.node == ev.Peer && was != nil && ev.At < was.due && (is == nil || is.owner != was.owner) {
					lose(was.owner, assumeMemory)
				}
			}
			s.promote(ev)
		}
		for _, c := range k.observe(ev) {
			if c.was == nil || c.at >= c.was.due || !slices.Contains(s, c.place) {
				continue
			}
			switch {
			case c.ev.Kind == sim.KindExpire:
				lose(c.was.owner, assumeClock)
			case c.ev.Kind == sim.KindForget,
				c.ev.Kind == sim.KindRestore && (c.is.owner != c.was.owner || c.is.due < c.was.due):
				lose(c.was.owner, assumeMemory)
			}
		}
	}
	if len(own) > 0 {
		all = own
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// slots are where a lock keeps its grants when the run starts.
func (h *history) slots(lock string) slots {
	for _, l := range h.trace.Locks {
		if l.Name == lock {
			return slotsOf(l)
		}
	}
	return nil
}
