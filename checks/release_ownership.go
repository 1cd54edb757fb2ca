package checks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/trace"
)

// ReleaseOwnership is violated when, on any node, a command removed, overwrote
// or changed the expiry of a key of the lock that was set for another
// acquisition: another client's, a later section's of the same client, or one
// that the same client set with a command it sent later; or when the command
// removed or overwrote the key of an earlier section that the client, by another
// handle, is in still.
const ReleaseOwnership Property = "release-ownership"

var releaseOwnership = property{
	name:  ReleaseOwnership,
	title: "no command touches a key that was set for another acquisition",
	judge: judgeReleaseOwnership,
}

func judgeReleaseOwnership(h *history) Finding {
	slots := map[string]bool{}
	for _, l := range h.trace.Locks {
		for _, s := range l.Slots {
			slots[s.Key] = true
		}
	}
	switch {
	case len(h.trace.Locks) == 0:
		return notApplicable(noLock)
	case h.nobodyExcluded():
		return notApplicable(everybodyIn)
	case len(slots) == 0:
		return notApplicable("the lock does not say which keys it keeps")
	}
	lastSet := map[place]int{}
	for i := range h.trace.Events {
		ev := &h.trace.Events[i]
		if !slots[ev.Key] {
			continue
		}
		by, owner, did := ev.By, ev.Owner, ""
		switch ev.Kind {
		case trace.KindDelete:
			did = "removed"
		case trace.KindTouch:
			did = "changed the expiry of"
		case trace.KindSet:
			owner, did = ev.Prior, "overwrote"
		}
		at := place{ev.Process, ev.Key}
		set, known := lastSet[at]
		if ev.Kind == trace.KindSet || ev.Kind == trace.KindRestore {
			lastSet[at] = ev.Seq
		}
		if did == "" || by == nil || owner == nil || !h.foreign(ev, by, owner) {
			continue
		}
		f := Finding{Outcome: Violated, At: ev.Seq, Events: []int{ev.Seq}, Fault: FaultLock}
		if known {
			f.Events = []int{set, ev.Seq}
		}
		f.Reason = fmt.Sprintf("at %v %v %s the key %q on %s, which had been set for %v",
			ev.At, acquisitionOf(by), did, ev.Key, ev.Process, acquisitionOf(owner))
		if acquisitionOf(by) == acquisitionOf(owner) {
			f.Reason += " by a command that it sent later"
		}
		f.Fault, f.Reason = h.unlessRanOn(FaultLock, f.Reason, f.At, by.Client, owner.Client)
		return f
	}
	return holds()
}

// foreign reports whether a key that owner set is not by's to touch. Commands
// that a client sends outside any section are told apart by when it sent them.
func (h *history) foreign(ev *trace.Event, by, owner *trace.Actor) bool {
	switch {
	case by.Client != owner.Client:
		return true
	case by.Sent != 0 && by.Sent < owner.Sent:
		// A client that sends a command twice can see the first copy come after the
		// second; where that only prolongs what the second has set, it is no other
		// acquisition's.
		return ev.Kind != trace.KindTouch || acquisitionOf(by) != acquisitionOf(owner)
	case by.Section == 0:
		return false
	case by.Section < owner.Section:
		return !h.background(ev, by, owner)
	case by.Section > owner.Section:
		return ev.Kind != trace.KindTouch && h.isIn(acquisitionOf(owner), ev)
	}
	return false
}

// background reports whether a change that bears an earlier section's number may
// be the later one's own: while a client is in several sections, what its handles
// do in the background bears the number of whatever section the client is busy
// with. A command that names the key's value was sent by somebody who knows it; so
// it is the later section's, unless the earlier one has used that value as well.
func (h *history) background(ev *trace.Event, by, owner *trace.Actor) bool {
	if by.Sent <= owner.Sent || ev.Kind == trace.KindSet || !slices.Contains(strings.Fields(h.trace.Events[by.Sent-1].Text), ev.Value) {
		return false
	}
	return !slices.ContainsFunc(h.trace.Events[:ev.Seq], func(o trace.Event) bool {
		return o.Kind == trace.KindSet && o.Value == ev.Value && acquisitionOf(o.By) == acquisitionOf(by)
	})
}

// isIn reports whether a client was in a section when an event happened.
func (h *history) isIn(id acquisition, ev *trace.Event) bool {
	return slices.ContainsFunc(h.sections, func(s *section) bool {
		return s.acquisition == id && s.from.before(momentOf(ev)) && momentOf(ev).before(s.to)
	})
}
