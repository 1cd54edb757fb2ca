package checks

import (
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// brokenPromises names the assumptions that nodes broke, up to the event at, by not keeping
// a section's keys. A node that sets a key promises to keep it for its TTL. The assumptions
// are named only if the keys would have existed on a quorum of the lock's slots with these
// nodes, and did not without them. If one of five nodes breaks its promise, that makes no
// room for another client, so a lock that granted it nevertheless has no excuse.
func (h *judgedRun) brokenPromises(s *history.Section, at int) []trace.Assumption {
	promised, kept := 0, 0
	var broken []trace.Assumption
	for _, slot := range h.Slots(s.Lock) {
		made, broke := h.slotPromise(s, slot, at)
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

// isGrantedInVain reports whether a section was granted only because nodes did not keep
// their promises. Mostly such a node is a master that does not know that it has been
// replaced.
func (h *judgedRun) isGrantedInVain(s *history.Section) bool {
	return len(h.brokenPromises(s, s.Granted.Seq)) > 0
}

// slotPromise reports whether, up to the event at, a node had promised a section's client
// that its key in a slot would still exist after that event. broke is the assumption that
// the node broke if the key does not exist. It is "" if the key exists, or if a command
// removed it, which is not the node's fault. A replica that took a node's place has to keep
// all promises of that node. These include promises that the node made afterwards, when it
// did not know that it had been replaced.
func (h *judgedRun) slotPromise(s *history.Section, slot history.Place, at int) (made bool, broke trace.Assumption) {
	for _, ev := range h.Promotions() {
		if ev.Peer != slot.Node || ev.Seq > at {
			continue
		}
		if before, _ := h.nodePromise(s, slot, at); before {
			made, broke = true, trace.AssumeLockMemory
		}
		slot.Node = ev.Process
	}
	if isMade, lost := h.nodePromise(s, slot, at); isMade {
		return true, lost
	}
	return made, broke
}

// nodePromise is slotPromise for one node. A key that came back to the node from a disk or
// from a master counts as promised.
func (h *judgedRun) nodePromise(s *history.Section, place history.Place, at int) (made bool, broke trace.Assumption) {
	trueTime := h.Event(at).At
	for _, k := range h.HoldingsOf(s.Acquisition) {
		if k.Place != place || k.Set.Seq > at {
			continue
		}
		givenUp := k.How == history.Removed && k.Ended.Seq <= at && history.AcquisitionOf(k.Ended.By) == s.Acquisition
		switch isRunning := !givenUp && trueTime < promisedUntil(k, at); {
		case isRunning:
			made, broke = true, h.assumptionOfLoss(s.Lock, k, at)
		case givenUp, k.By != nil: // a key that came back with a shorter time to live revokes no promise
			made, broke = false, ""
		}
	}
	return made, broke
}

// promisedUntil returns until when a key was promised to exist by the event that set it,
// and by those that renewed it up to the event at.
func promisedUntil(k *history.Holding, at int) time.Duration {
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

// assumptionOfLoss returns the assumption that a node broke, up to the event at, by losing
// a key of a lock; "" if it did not.
func (h *judgedRun) assumptionOfLoss(lock string, k *history.Holding, at int) trace.Assumption {
	for _, l := range h.Losses(lock) {
		if l.Key.Set != k.Set || l.Event.Process != k.Node || l.Event.Seq > at {
			continue
		}
		switch {
		case l.Early:
			return trace.AssumeClock
		case l.ConnectionLost:
			return trace.AssumeNetwork
		}
		return trace.AssumeLockMemory
	}
	return ""
}
