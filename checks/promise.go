package checks

import (
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// brokenPromises returns the assumptions that nodes had broken, up to the event with the number
// seq, by not keeping a critical section's keys. A node that sets a key promises to keep it for its
// TTL. The broken promises count only if they mattered: with the promised keys the section had a
// quorum of the lock's slots, and with the keys that really existed it had none. Otherwise the
// result is nil. A slot is one key on one node. If only one of five nodes breaks its promise, the
// section still has a quorum. If the lock then grants another section, the broken promise does not
// excuse the lock.
func (h *judgedRun) brokenPromises(s *history.Section, seq int) []trace.Assumption {
	promised, kept := 0, 0
	var broken []trace.Assumption
	for _, slot := range h.Slots(s.Lock) {
		isPromised, brokenAssumption := h.slotPromise(s, slot, seq)
		switch {
		case !isPromised:
		case brokenAssumption == "":
			promised++
			kept++
		default:
			promised++
			broken = append(broken, brokenAssumption)
		}
	}
	quorum := h.Lock(s.Lock).Quorum
	if promised < quorum || kept >= quorum {
		return nil
	}
	slices.Sort(broken)
	return slices.Compact(broken)
}

// hasLostKeysAtGrant reports whether a section had already lost its quorum of keys when it
// was granted, because nodes did not keep their promises. Mostly such a node is a master
// that does not know that it has been replaced.
func (h *judgedRun) hasLostKeysAtGrant(s *history.Section) bool {
	return len(h.brokenPromises(s, s.Granted.Seq)) > 0
}

// slotPromise reports whether a node had promised, up to the event with the number seq, that a
// section's key in a slot would still exist then. broke is the assumption that the node broke if
// the key does not exist. It is "" if the key exists, or if a command removed the key, which is not
// the node's fault. A replica that took a node's place has to keep all promises of that node. These
// include promises that the node made later, when it did not yet know that it had been replaced.
func (h *judgedRun) slotPromise(s *history.Section, slot history.Place, seq int) (isPromised bool, broke trace.Assumption) {
	for _, ev := range h.Promotions() {
		if ev.Peer != slot.Node || ev.Seq > seq {
			continue
		}
		if before, _ := h.nodePromise(s, slot, seq); before {
			isPromised, broke = true, trace.AssumeLockMemory
		}
		slot.Node = ev.Process
	}
	if isMade, lost := h.nodePromise(s, slot, seq); isMade {
		return true, lost
	}
	return isPromised, broke
}

// nodePromise is slotPromise for one node, without the replicas that took its place. A key that
// came back to the node from a disk or from a master counts as promised.
func (h *judgedRun) nodePromise(s *history.Section, place history.Place, seq int) (isPromised bool, broke trace.Assumption) {
	trueTime := h.Event(seq).At
	for _, k := range h.HoldingsOf(s.Acquisition) {
		if k.Place != place || k.Set.Seq > seq {
			continue
		}
		givenUp := k.How == history.Removed && k.Ended.Seq <= seq && history.AcquisitionOf(k.Ended.By) == s.Acquisition
		switch isRunning := !givenUp && trueTime < promisedUntil(k, seq); {
		case isRunning:
			isPromised, broke = true, h.assumptionOfLoss(s.Lock, k, seq)
		// By is nil for a key that came back from a disk or a master. If its time to live has
		// become shorter, an earlier promise remains valid.
		case givenUp, k.By != nil:
			isPromised, broke = false, ""
		}
	}
	return isPromised, broke
}

// promisedUntil returns until when a node had promised that a key would exist. It counts from the
// last event, up to the event with the number seq, that set or renewed the key.
func promisedUntil(k *history.Holding, seq int) time.Duration {
	last := k.Set
	for _, touch := range k.Touches {
		if touch.Seq <= seq {
			last = touch
		}
	}
	if last.TTL == 0 {
		return history.Forever
	}
	return last.At + last.TTL
}

// assumptionOfLoss returns the assumption that a node broke by losing a key of a lock, up
// to the event with the number seq; "" if the node did not lose the key.
func (h *judgedRun) assumptionOfLoss(lock string, k *history.Holding, seq int) trace.Assumption {
	for _, l := range h.Losses(lock) {
		if l.Key.Set != k.Set || l.Event.Process != k.Node || l.Event.Seq > seq {
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
