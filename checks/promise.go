package checks

import (
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// unkept names the assumptions that nodes broke, up to the event at, by not keeping what they
// had promised of a section's keys, if it takes these nodes for the keys to have stood on a
// quorum of the lock's slots then: without them they did not. It counts slots, as a grant
// does. One such node of five does not let anybody else in, so a lock that let somebody in all
// the same has no excuse.
func (h *inquiry) unkept(s *history.Section, at int) []trace.Assumption {
	promised, kept := 0, 0
	var broken []trace.Assumption
	for _, slot := range h.Slots(s.Lock) {
		made, broke := h.promised(s, slot, at)
		switch {
		case !made:
		case broke == "":
			promised++
			kept++
		default:
			promised++
			broken = append(broken, broke)
		}
	}
	quorum := h.Lock(s.Lock).Quorum
	if promised < quorum || kept >= quorum {
		return nil
	}
	slices.Sort(broken)
	return slices.Compact(broken)
}

// inVain reports whether it takes nodes that did not keep their promises for a section to have
// been granted: mostly a master that does not know it is none any more.
func (h *inquiry) inVain(s *history.Section) bool { return len(h.unkept(s, s.Granted.Seq)) > 0 }

// promised says whether a section's client had been told, up to the event at, that its key in a
// slot would stand until after it, and which assumption broke if it does not; "" if it does, or
// if a command took it away, which is no fault of the node. A replica that took a node's place
// has to keep what that had promised: before, or afterwards, when it did not know that it is
// none of the lock's nodes any more.
func (h *inquiry) promised(s *history.Section, slot history.Place, at int) (made bool, broke trace.Assumption) {
	for _, ev := range h.Promotions() {
		if ev.Peer != slot.Node || ev.Seq > at {
			continue
		}
		if before, _ := h.promisedBy(s, slot, at); before {
			made, broke = true, trace.AssumeLockMemory
		}
		slot.Node = ev.Process
	}
	if now, lost := h.promisedBy(s, slot, at); now {
		return true, lost
	}
	return made, broke
}

// promisedBy is promised of one node. What came back to it from a disk or from a master is as
// good as promised.
func (h *inquiry) promisedBy(s *history.Section, place history.Place, at int) (made bool, broke trace.Assumption) {
	now := h.Event(at).At
	for _, k := range h.HoldingsOf(s.Acquisition) {
		if k.Place != place || k.Set.Seq > at {
			continue
		}
		givenUp := k.How == history.Removed && k.Ended.Seq <= at && history.AcquisitionOf(k.Ended.By) == s.Acquisition
		switch stands := !givenUp && now < toldUntil(k, at); {
		case stands:
			made, broke = true, h.lost(s.Lock, k, at)
		case givenUp, k.By != nil: // what came back with less of its time takes no promise back
			made, broke = false, ""
		}
	}
	return made, broke
}

// toldUntil is when a key was to end that had been set, and prolonged, up to the event at.
func toldUntil(k *history.Holding, at int) time.Duration {
	last := k.Set
	for _, touch := range k.Touches {
		if touch.Seq <= at {
			last = touch
		}
	}
	if last.TTL == 0 {
		return history.Forever
	}
	return last.At + last.TTL
}

// lost is the assumption that a node broke, up to the event at, by losing a key of a lock; "" if
// it did not.
func (h *inquiry) lost(lock string, k *history.Holding, at int) trace.Assumption {
	for _, l := range h.Losses(lock) {
		if l.Of.Set != k.Set || l.Event.Process != k.Node || l.Event.Seq > at {
			continue
		}
		switch {
		case l.Early:
			return trace.AssumeClock
		case l.Cut:
			return trace.AssumeNetwork
		}
		return trace.AssumeLockMemory
	}
	return ""
}
