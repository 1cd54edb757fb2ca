package checks

import (
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// A lock may remove the key of its own lease while the lease is valid: by a timer, or in a call of
// extend that fails. Then the holder still believes that it holds the lock. Even if the holder is
// notified of the loss, or learns of it when it releases the lock, the lock itself has caused the
// loss.

// ownRemoval returns the last key of a critical section that the section's own acquisition removed,
// although the lease was valid and release had not been called. It returns nil if there is none, or
// if the lock removed so few keys that a quorum was left. A key that expired, that another client
// removed, or that the release removed counts as left.
func (h *judgedRun) ownRemoval(s *history.Section) *history.Holding {
	released := history.Never.Seq
	for _, c := range h.CallsOf(s.Acquisition) {
		if c.Step == trace.Release && c.Began != nil {
			released = min(released, c.Began.Seq)
		}
	}
	lock := h.Lock(s.Lock)
	removed, left := []*history.Holding{}, 0
	for _, k := range h.slotKeys(s.Acquisition) {
		e := k.Ended
		switch {
		case !h.isRemovedByOwner(k), released < e.Seq:
			left++
		case s.Granted.Seq < e.Seq && e.Seq < released && history.MomentOf(e).Before(s.Lease.Until(e.Seq-1)):
			removed = append(removed, k)
		}
	}
	if len(removed) == 0 || left >= max(lock.Quorum, 1) {
		return nil
	}
	return slices.MaxFunc(removed, func(a, b *history.Holding) int { return a.Ended.Seq - b.Ended.Seq })
}

// findFalseAlarm finds a holder that is notified of the loss of its lease although no fault has
// acted. The lock itself has removed the key.
func (h *judgedRun) findFalseAlarm() (reason Reason, at []int) {
	for _, s := range h.Sections() {
		if !h.Lock(s.Lock).Claims.Notifies || s.Lost == nil || !h.isCalmSince(s.AcquireCall(), s.Lost) {
			continue
		}
		if k := h.ownRemoval(s); k != nil && k.Ended.Seq < s.Lost.Seq {
			return lostByItself.Reason(h.Name(s), s.Lost.At, k.Node, k.Ended.At), []int{s.Granted.Seq, k.Ended.Seq, s.Lost.Seq}
		}
	}
	return Reason{}, nil
}

// failsAfterRemoval reports whether a release of an acquisition returned an error although it
// had removed the grant and the answer had arrived.
func (h *judgedRun) failsAfterRemoval(a history.Acquisition) bool {
	return slices.ContainsFunc(h.CallsOf(a), func(c *history.Call) bool {
		r, comparable := h.newReleaseCall(c)
		return comparable && c.Failed() && r.judgeFailure().Outcome == Violated
	})
}

// isRemovedByOwner reports whether a key was removed by the acquisition that had set it. The
// removal may also have been made in the background, while the client was in another section.
func (h *judgedRun) isRemovedByOwner(k *history.Holding) bool {
	if k.How != history.Removed || k.Ended.By == nil || k.Ended.By.Client != k.Owner.Client {
		return false
	}
	return history.AcquisitionOf(k.Ended.By) == k.Owner || k.By != nil && h.mayBeBackground(history.Change{Event: k.Ended, Place: k.Place, Before: k}, k.Ended.By, k.By)
}
