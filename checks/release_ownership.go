package checks

import (
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// ReleaseOwnership is violated when, on any node, a command removed, overwrote or changed the
// expiry of a key of the lock that was set for another acquisition. The other acquisition (one call
// of acquire, and everything that follows from it) may be another client's, or the same client's
// for a later critical section. A key also counts as set for another acquisition if the same client
// set it with a command that it sent later. The property is also violated when a client that was
// still in a section, through one handle on the lock, removed or overwrote the section's key
// through another handle.
//
// Some locks are kept in a record that contains the end of the lease and that no server removes at
// that end. If such a record says that the lease has ended, or that the lock is free, a client may
// replace it. By this the client takes the lock over, which is no violation.
const ReleaseOwnership Property = "release-ownership"

var releaseOwnership = property{
	Card: Card{
		Property: ReleaseOwnership, Subject: SubjectConduct, Gravity: 7, Letter: "r",
		Title:  "no command touches a key that was set for another acquisition",
		Broken: "a command touches another acquisition's key",
		Label:  "others' keys", Meaning: "a command touches a key that was set for another acquisition",
	},
	judge: judgeReleaseOwnership,
}

func judgeReleaseOwnership(h *judgedRun) Finding {
	declaresKeys := func(l trace.LockInfo) bool { return len(l.Slots) > 0 }
	switch {
	case len(h.Trace.Locks) == 0:
		return notApplicable(noLock.Reason())
	case h.NoExclusion():
		return notApplicable(grantsEveryone.Reason())
	case !slices.ContainsFunc(h.Trace.Locks, declaresKeys):
		return notApplicable(keysUnknown.Reason())
	}
	for _, c := range h.KeyChanges() {
		if f := h.judgeOwnership(c); f.Outcome == Violated {
			return f
		}
	}
	return holds()
}

// judgeOwnership judges one change of a key.
func (h *judgedRun) judgeOwnership(c history.Change) Finding {
	ev := c.Event
	by, owner := ev.By, ev.Owner
	var code code5[time.Duration, string, string, string, string]
	switch {
	case !h.IsLockKey(c.Key):
	case c.How == history.Expired: // any client may find that a key has expired
	case by.IsOperator(): // an operator's command is not the lock's
	case c.After == nil && ev.By != nil:
		code = removedForeignKey
	case c.Touch:
		code = touchedForeignKey
	case c.After != nil && c.After.By != nil:
		owner, code = ev.Prior, overwroteForeignKey
	}
	if code == "" || by == nil || owner == nil || !h.isForeign(c, by, owner) || h.isTakeover(c, by) {
		return holds()
	}
	f := Finding{Outcome: Violated, At: ev.Seq, Events: []int{ev.Seq}}
	if c.Before != nil {
		f.Events = []int{c.Before.Set.Seq, ev.Seq}
	}
	changer, holder := history.AcquisitionOf(by), history.AcquisitionOf(owner)
	f.Reason = code.Reason(ev.At, h.nameOf(changer), ev.Key, ev.Process, h.nameOf(holder))
	if changer.Client == holder.Client && changer != holder { // one of them may not have been granted
		f.Reason = code.Reason(ev.At, changer.String(), ev.Key, ev.Process, holder.String())
	}
	if changer == holder {
		f.Reason = f.Reason.And(bySentLater.Reason())
	}
	f.Blame, f.Reason = h.blameUnlessRanWhilePaused(BlameLock, f.Reason, f.At, by.Client, owner.Client)
	return f
}

// isForeign reports whether the actor changer must not touch a key that the actor owner has set.
// Commands outside any section are distinguished by the order in which the client sent them.
func (h *judgedRun) isForeign(c history.Change, changer, owner *trace.Actor) bool {
	switch {
	case changer.Client != owner.Client:
		return true
	case changer.Sent != 0 && changer.Sent < owner.Sent:
		// If a client sends a command twice, the first copy can arrive after the second. If
		// it only renews what the second has set, it belongs to the same acquisition.
		return !c.Touch || history.AcquisitionOf(changer) != history.AcquisitionOf(owner)
	case changer.Section == 0:
		return false
	case changer.Section < owner.Section:
		return !h.mayBeBackground(c, changer, owner) && !h.isOfOtherLock(c, changer, owner)
	case changer.Section > owner.Section:
		return !c.Touch && h.wasInSection(history.AcquisitionOf(owner), c.Event) && !h.mayBeBackground(c, changer, owner)
	}
	return false
}

// mayBeBackground reports whether a change may have been made in the background for the section
// that owns the key, although it has the number of another section. While a client is in several
// sections, everything that its handles do in the background has the number of the section that the
// client is busy with. A command that contains the key's value was sent by a handle that knows it.
// So it belongs to the owner, unless the other section has used that value, too.
func (h *judgedRun) mayBeBackground(c history.Change, changer, owner *trace.Actor) bool {
	value := c.Event.Value
	command, _ := h.CommandOf(changer)
	if changer.Sent <= owner.Sent || !c.Touch && c.After != nil || !slices.Contains(command, value) {
		return false
	}
	return !slices.ContainsFunc(h.Holdings(), func(k *history.Holding) bool {
		return k.By != nil && k.Value == value && k.Set.Seq <= c.Event.Seq && history.AcquisitionOf(k.By) == history.AcquisitionOf(changer)
	})
}

// isOfOtherLock reports whether a key belongs to the changer's lock only, although the client set
// it while it asked for the owner's lock. Then the handle on the changer's lock has set the key in
// the background, and may change it.
func (h *judgedRun) isOfOtherLock(c history.Change, changer, owner *trace.Actor) bool {
	lockOf := func(a *trace.Actor) string {
		for _, call := range h.Calls() {
			if call.Step == trace.Acquire && call.Acquisition == history.AcquisitionOf(a) {
				return call.Lock
			}
		}
		return ""
	}
	own, other := lockOf(changer), lockOf(owner)
	return own != other && slices.ContainsFunc(h.Slots(own), func(s history.Place) bool { return s.Key == c.Key }) &&
		!slices.ContainsFunc(h.Slots(other), func(s history.Place) bool { return s.Key == c.Key })
}

// wasInSection reports whether a client was in a section when an event happened.
func (h *judgedRun) wasInSection(id history.Acquisition, ev *trace.Event) bool {
	s := h.Section(id)
	return s != nil && s.From.Before(history.MomentOf(ev)) && history.MomentOf(ev).Before(s.To)
}

// nameOf returns the name of an acquisition for use in sentences: the name of its section if it was
// granted, and otherwise the name of its client.
func (h *judgedRun) nameOf(a history.Acquisition) string {
	if s := h.Section(a); s != nil {
		return h.Name(s)
	}
	return a.Client
}
