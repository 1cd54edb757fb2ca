package checks

import (
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// ReleaseOwnership is violated when, on any node, a command removed, overwrote
// or changed the expiry of a key of the lock that was set for another
// acquisition: another client's, a later section's of the same client, or one
// that the same client set with a command it sent later; or when the command
// removed or overwrote the key of an earlier section that the client, by another
// handle, is in still. A client that replaces a record which is over by its own word, though
// no server has ended it, takes the lock over.
const ReleaseOwnership Property = "release-ownership"

var releaseOwnership = property{
	Card: Card{
		Property: ReleaseOwnership, Of: OfConduct, Gravity: 7, Letter: "r",
		Title:  "no command touches a key that was set for another acquisition",
		Broken: "a command touches another's key",
		Word:   "others' keys", Means: "a command touches a key that is another's",
	},
	judge: judgeReleaseOwnership,
}

func judgeReleaseOwnership(h *inquiry) Finding {
	slots := map[string]bool{}
	for _, l := range h.Trace.Locks {
		for _, s := range l.Slots {
			slots[s.Key] = true
		}
	}
	switch {
	case len(h.Trace.Locks) == 0:
		return notApplicable(noLock.Reason())
	case h.NobodyExcluded():
		return notApplicable(everybodyIn.Reason())
	case len(slots) == 0:
		return notApplicable(noKeysTold.Reason())
	}
	for _, c := range h.KeyChanges() {
		if !slots[c.Key] {
			continue
		}
		ev := c.Event
		by, owner := ev.By, ev.Owner
		var did code5[time.Duration, string, string, string, string]
		switch {
		case c.How == history.Expired: // whoever finds that its time is up
		case by.IsOperator(): // which is the command of no lock
		case c.Is == nil && ev.By != nil:
			did = removedForeignKey
		case c.Touch:
			did = touchedForeignKey
		case c.Is != nil && c.Is.By != nil:
			owner, did = ev.Prior, overwroteForeignKey
		}
		if did == "" || by == nil || owner == nil || !h.foreign(c, by, owner) || h.takesOver(c, by) {
			continue
		}
		f := Finding{Outcome: Violated, At: ev.Seq, Events: []int{ev.Seq}, Fault: FaultLock}
		if c.Was != nil {
			f.Events = []int{c.Was.Set.Seq, ev.Seq}
		}
		f.Reason = did.Reason(
			ev.At, history.AcquisitionOf(by).String(), ev.Key, ev.Process, history.AcquisitionOf(owner).String())
		if history.AcquisitionOf(by) == history.AcquisitionOf(owner) {
			f.Reason = f.Reason.And(bySentLater.Reason())
		}
		f.Fault, f.Reason = h.unlessRanOn(FaultLock, f.Reason, f.At, by.Client, owner.Client)
		return f
	}
	return holds()
}

// foreign reports whether a key that owner set is not by's to touch. Commands
// that a client sends outside any section are told apart by when it sent them.
func (h *inquiry) foreign(c history.Change, by, owner *trace.Actor) bool {
	switch {
	case by.Client != owner.Client:
		return true
	case by.Sent != 0 && by.Sent < owner.Sent:
		// A client that sends a command twice can see the first copy come after the
		// second; where that only prolongs what the second has set, it is no other
		// acquisition's.
		return !c.Touch || history.AcquisitionOf(by) != history.AcquisitionOf(owner)
	case by.Section == 0:
		return false
	case by.Section < owner.Section:
		return !h.background(c, by, owner) && !h.ofAnotherLock(c, by, owner)
	case by.Section > owner.Section:
		return !c.Touch && h.isIn(history.AcquisitionOf(owner), c.Event)
	}
	return false
}

// background reports whether a change that bears an earlier section's number may
// be the later one's own: while a client is in several sections, what its handles
// do in the background bears the number of whatever section the client is busy
// with. A command that names the key's value was sent by somebody who knows it; so
// it is the later section's, unless the earlier one has used that value as well.
func (h *inquiry) background(c history.Change, by, owner *trace.Actor) bool {
	value := c.Event.Value
	if by.Sent <= owner.Sent || !c.Touch && c.Is != nil || !h.Knew(by, value) {
		return false
	}
	return !slices.ContainsFunc(h.Holdings(), func(k *history.Holding) bool {
		return k.By != nil && k.Value == value && k.Set.Seq <= c.Event.Seq && history.AcquisitionOf(k.By) == history.AcquisitionOf(by)
	})
}

// ofAnotherLock reports whether a key was set while the client asked for another lock than the
// key's, which is by's: nobody sets that for the other lock, and so it was by's own handle, in the
// background.
func (h *inquiry) ofAnotherLock(c history.Change, by, owner *trace.Actor) bool {
	lock := func(a *trace.Actor) string {
		for _, call := range h.Calls() {
			if call.Step == trace.Acquire && call.Acquisition == history.AcquisitionOf(a) {
				return call.Lock
			}
		}
		return ""
	}
	own, other := lock(by), lock(owner)
	return own != other && slices.ContainsFunc(h.Slots(own), func(s history.Place) bool { return s.Key == c.Key }) &&
		!slices.ContainsFunc(h.Slots(other), func(s history.Place) bool { return s.Key == c.Key })
}

// isIn reports whether a client was in a section when an event happened.
func (h *inquiry) isIn(id history.Acquisition, ev *trace.Event) bool {
	s := h.Section(id)
	return s != nil && s.From.Before(history.MomentOf(ev)) && history.MomentOf(ev).Before(s.To)
}
