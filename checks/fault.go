package checks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/trace"
)

// Whose fault a violation is.
const (
	// FaultLock is a violation with which everything had done what the lock
	// relies on: two overlapping leases while every node kept every key for its
	// TTL of true time and both clients' clocks kept time, a client that was let
	// in though no node had granted it, a grant whose lease had ended before
	// acquire returned, an extension that had ended before extend returned, a key
	// taken from another acquisition, no progress while no fault was active.
	FaultLock = "lock"
	// FaultInherent is two sections that overlap although their leases do not.
	// No lock whose grants end by time can avoid it.
	FaultInherent = "inherent: needs fencing"
	// FaultAssumption begins the name of an assumption that broke: two leases
	// overlap because a node lost a key or let it end too early, or because a
	// client's clock did not count the time that passed; tokens do not grow because
	// a node lost a counter, or a clock was set.
	FaultAssumption = "assumption: "
)

// The assumptions whose breaking makes leases overlap.
const (
	assumeClock   = "clock"
	assumeMemory  = "lock memory"
	assumeProcess = "process"
)

// leaseFault says whose fault it is that two leases overlap since the event at.
func (h *history) leaseFault(a, b *section, at int, reason string) (fault, why string) {
	uninvited := h.uninvited(a, b)
	if h.clockSet(a, b, at) && (uninvited != "" || h.shortLived(a, at) || h.shortLived(b, at)) {
		// The lock gives its keys an end by the time of day, as its own process reads it.
		return FaultAssumption + assumeClock, reason
	}
	if uninvited != "" {
		reason += fmt.Sprintf("; the lock let %s in though no node had granted it", uninvited)
		return h.unlessRanOn(FaultLock, reason, at, a.client, b.client)
	}
	broken := h.misled(a, b, at)
	if len(broken) == 0 {
		broken = h.broken(a.acquisition, a.lock, at)
	}
	if len(broken) > 0 {
		return FaultAssumption + strings.Join(broken, ", "), reason
	}
	return h.unlessRanOn(FaultLock, reason, at, a.client, b.client)
}

// uninvited names those of two sections that were granted by nobody, as far as
// one can watch the lock.
func (h *history) uninvited(a, b *section) string {
	var names []string
	for _, s := range []*section{a, b} {
		if s.granted.Ungranted && len(h.slots(s.lock)) > 0 {
			names = append(names, h.name(s))
		}
	}
	return strings.Join(names, " and ")
}

// shortLived reports whether a node was told, up to the event at, to keep a key of a
// section's grant for much less than the lock's TTL, as the node's own clock saw it.
func (h *history) shortLived(s *section, at int) bool {
	slots, ttl := h.slots(s.lock), h.info[s.lock].TTL
	return slices.ContainsFunc(h.trace.Events[:at], func(ev trace.Event) bool {
		return ev.Kind == trace.KindSet && ev.Owner != nil && acquisition{ev.Owner.Client, ev.Owner.Section} == s.acquisition &&
			slices.Contains(slots, place{ev.Process, ev.Key}) && ev.TTL > 0 && ev.TTL < ttl*9/10
	})
}

// misled names the assumptions about clients' clocks without whose breaking two
// leases that overlap since the event at would not: the time for which one of
// them was declared was over before the other began, but its client's clock had
// not counted it.
func (h *history) misled(a, b *section, at int) []string {
	since := later(a.lease.from, b.lease.from)
	var broken []string
	for _, s := range []*section{a, b} {
		if d := s.lease.latest(at); d.ev.Ends != nil && !since.before(d.due) {
			clock := stretches(h.clocksOf(s), d.ev.Ends.Clock)
			broken = append(broken, behind(clock, momentOf(d.call), since)...)
		}
	}
	slices.Sort(broken)
	return slices.Compact(broken)
}

// behind names the assumptions that broke when a clock counted less time than
// passed from one moment to another.
func behind(clock []stretch, from, to moment) []string {
	var broken []string
	first := current(clock, from)
	for i := first; i < len(clock) && !to.before(clock[i].from); i++ {
		s := clock[i]
		switch {
		case s.pace == 0:
			broken = append(broken, assumeProcess)
		case s.pace < second, i > first && s.reads < clock[i-1].at(s.from.at):
			broken = append(broken, assumeClock)
		}
	}
	return broken
}

// sectionFault says whose fault it is that two sections overlap since b's was
// granted.
func (h *history) sectionFault(a, b *section, reason string) (fault, why string) {
	if a.open {
		return "", reason + "; " + everybodyIn
	}
	if at := a.lease.overlap(b.lease); at != nil {
		return h.leaseFault(a, b, at.Seq, reason)
	}
	for _, s := range []*section{a, b} {
		if s.lease.empty() {
			reason += fmt.Sprintf("; %s's lease had already ended when it was granted", h.name(s))
			return h.unlessRanOn(FaultLock, reason, b.from.seq, s.client)
		}
		if late := s.lease.prolongedTooLate(); late != nil {
			reason += fmt.Sprintf("; at %v %s was told that its lease was prolonged, until %v", late.ev.At, h.name(s), late.until)
			return h.unlessRanOn(FaultLock, reason, max(late.ev.Seq, b.from.seq), s.client)
		}
	}
	return FaultInherent, reason
}

// tokenFault says whose fault it is that the token that a lock minted for one of
// two grants is not greater than that of the older one, as the event at shows.
func (h *history) tokenFault(old, young *section, at int, reason string) (fault, why string) {
	var broken []string
	if h.clockSet(old, young, at) {
		broken = append(broken, assumeClock)
	}
	since := min(old.called().Seq, young.called().Seq)
	if h.forgot(old.lock, since, at) {
		broken = append(broken, assumeMemory)
	}
	if len(broken) > 0 {
		return FaultAssumption + strings.Join(broken, ", "), reason
	}
	return h.unlessRanOn(FaultLock, reason, at, old.client, young.client)
}

// called is the call of acquire that led to the section.
func (s *section) called() *trace.Event { return s.lease.ends[0].call }

// clockSet reports whether a fault had set a clock that a lock may have read for
// two grants, up to the event at, or had changed its rate: a node's, or of one of
// their clients if the lock reads that.
func (h *history) clockSet(a, b *section, at int) bool {
	for process, changes := range h.clocks {
		read := !h.isClient(process) || !h.info[a.lock].TrueTime && (process == a.client || process == b.client)
		set := func(ev *trace.Event) bool {
			return ev.Seq <= at && (ev.Clocks.Why == "jump" || ev.Clocks.Why == "drift")
		}
		if read && slices.ContainsFunc(changes, set) {
			return true
		}
	}
	return false
}

// forgot reports whether a node that a lock uses lost something that it held,
// after the event since and up to the event at: in a crash, or because a replica
// took its place that had not received it.
func (h *history) forgot(lock string, since, at int) bool {
	k, s := newKeys(), h.slots(lock)
	used := func(node string) bool {
		return len(s) == 0 || slices.ContainsFunc(s, func(p place) bool { return p.node == node })
	}
	crashed := map[string]bool{}
	for i := range h.trace.Events[:at] {
		ev := &h.trace.Events[i]
		switch ev.Kind {
		case trace.KindCrash:
			crashed[ev.Process] = true
		case trace.KindPromote:
			if ev.Seq > since && used(ev.Peer) && !k.alike(ev.Peer, ev.Process) {
				return true
			}
			s.promote(ev)
		}
		for _, c := range k.observe(ev) {
			lost := c.ev.Kind == trace.KindForget || c.ev.Kind == trace.KindRestore && crashed[c.node]
			if lost && ev.Seq > since && used(c.node) {
				return true
			}
		}
	}
	return false
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

// faultActive reports whether a fault was still active at the end of the run
// that could keep some clients from the lock. One that stopped another client
// for good could not: to get over that is what a lock is there for.
func (h *history) faultActive(clients []string) bool {
	active := map[int]bool{}
	for i := range h.trace.Events {
		switch ev := &h.trace.Events[i]; ev.Kind {
		case trace.KindStrike:
			if who := h.stopped(ev.Fault); !ev.Instant && (who == "" || slices.Contains(clients, who)) {
				active[ev.Fault] = true
			}
		case trace.KindLift:
			delete(active, ev.Fault)
		}
	}
	return len(active) > 0
}

// stopped is the client that a fault crashes or pauses, or "".
func (h *history) stopped(fault int) string {
	if fault < 1 || fault > len(h.trace.Faults) {
		return ""
	}
	if who := h.trace.Faults[fault-1].Stops; h.isClient(who) {
		return who
	}
	return ""
}

// isClient reports whether a process is a client.
func (h *history) isClient(name string) bool {
	return slices.ContainsFunc(h.trace.Processes, func(p trace.ProcessInfo) bool {
		return p.Name == name && p.Role == trace.RoleClient
	})
}

// broken names the assumptions that nodes broke, up to the event at, by not
// keeping a key of a lock for its TTL of true time: those of the acquisition at
// hand if there are any, else those of anybody. What a command removed, the node
// did not lose.
func (h *history) broken(holder acquisition, lock string, at int) []string {
	var all []string
	each := h.brokenFor(lock, at)
	if own := each[holder]; len(own) > 0 {
		return own
	}
	for _, broken := range each {
		all = append(all, broken...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// brokenFor names them for each acquisition whose keys they were.
func (h *history) brokenFor(lock string, at int) map[acquisition][]string {
	broken := map[acquisition][]string{}
	lose := func(owner acquisition, assumption string) {
		if all := broken[owner]; !slices.Contains(all, assumption) {
			all = append(all, assumption)
			slices.Sort(all)
			broken[owner] = all
		}
	}
	k, s := newKeys(), h.slots(lock)
	for i := range h.trace.Events {
		ev := &h.trace.Events[i]
		if ev.Seq > at {
			break
		}
		if ev.Kind == trace.KindPromote {
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
			case c.ev.Kind == trace.KindExpire:
				lose(c.was.owner, assumeClock)
			case c.ev.Kind == trace.KindForget,
				c.ev.Kind == trace.KindRestore && (c.is.owner != c.was.owner || c.is.due < c.was.due):
				lose(c.was.owner, assumeMemory)
			}
		}
	}
	return broken
}

// slots are where a lock keeps its grants when the run starts.
func (h *history) slots(lock string) slots { return slotsOf(h.info[lock]) }
