package checks

import (
	"fmt"

	"github.com/locksim/locksim/sim"
)

// ReleaseOwnership is violated when, on any node, a command removed, overwrote
// or changed the expiry of a key of the lock that was set for another
// acquisition: another client's, a later section's of the same client, or one
// that the same client set with a command it sent later.
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
		case sim.KindDelete:
			did = "removed"
		case sim.KindTouch:
			did = "changed the expiry of"
		case sim.KindSet:
			owner, did = ev.Prior, "overwrote"
		}
		at := place{ev.Process, ev.Key}
		set, known := lastSet[at]
		if ev.Kind == sim.KindSet || ev.Kind == sim.KindRestore {
			lastSet[at] = ev.Seq
		}
		if did == "" || by == nil || owner == nil || !foreign(by, owner) {
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
func foreign(by, owner *sim.Actor) bool {
	switch {
	case by.Client != owner.Client:
		return true
	case by.Section != 0 && by.Section < owner.Section:
		return true
	}
	return by.Sent != 0 && by.Sent < owner.Sent
}
