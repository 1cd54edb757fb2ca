package checks

import (
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// ReleaseFails is violated by a release that returns an error although nothing is wrong: no fault
// has acted since the lock was asked for, and the lease is still running. The keys of the lease
// existed until the release removed them, or until an earlier command of the lock removed them.
const ReleaseFails Property = "release fails"

var releaseWorks = misconduct(Card{
	Property: ReleaseFails, Gravity: 26,
	Title:  "a release succeeds while nothing is wrong",
	Broken: "a release fails although nothing is wrong",
	Label:  "release fails", Meaning: "a release returns an error although nothing is wrong",
}, (*judgedRun).findFailedRelease)

// findFailedRelease finds a release that fails although nothing is wrong; see
// [ReleaseFails].
func (h *judgedRun) findFailedRelease() (reason Reason, at []int) {
	for _, s := range h.Sections() {
		release := h.firstCall(s.Acquisition, trace.Release)
		if release == nil || !release.Failed() || release.Cancelled != nil || s.Granted.Ungranted || h.hadEndedContext(s.Acquisition) {
			continue
		}
		if !h.isCalmSince(s.AcquireCall(), release.Ended) || !h.wasHeldDuring(s, release) || h.wasTakenDuring(s, release) {
			continue
		}
		return releaseFailed.Reason(s.Client, release.Began.At, release.Ended.Text), []int{s.Granted.Seq, release.Began.Seq, release.Ended.Seq}
	}
	return Reason{}, nil
}

// wasHeldDuring reports whether a critical section's lease ran until its release returned, and its
// keys existed when release was called. Keys that the lock itself had removed before count as
// existing.
func (h *judgedRun) wasHeldDuring(s *history.Section, release *history.Call) bool {
	began, ended := history.MomentOf(release.Began), history.MomentOf(release.Ended)
	if k := h.ownRemoval(s); k != nil {
		return ended.Before(s.Lease.Latest(k.Ended.Seq - 1).Until)
	}
	lease := s.Lease.Latest(release.Began.Seq)
	if lease == nil || !ended.Before(lease.Until) || s.Lost != nil && s.Lost.Seq < release.Ended.Seq {
		return false
	}
	return slices.ContainsFunc(h.Backings(s.Lock, s.Acquisition), func(b history.Backing) bool { return b.Contains(began) })
}

// wasTakenDuring reports whether other acquisitions removed or replaced so many keys of a section,
// while its release was running, that the release could not remove a quorum of keys.
func (h *judgedRun) wasTakenDuring(s *history.Section, release *history.Call) bool {
	left, taken := 0, 0
	for _, k := range h.HoldingsOf(s.Acquisition) {
		if k.Ended != nil && k.Ended.Seq < release.Began.Seq {
			continue
		}
		left++
		if e := k.Ended; e != nil && e.By != nil && e.Seq < release.Ended.Seq && (e.By.Client != s.Client || e.By.Section != 0 && e.By.Section != s.Section) {
			taken++
		}
	}
	return taken > 0 && left-taken < max(h.Lock(s.Lock).Quorum, 1)
}

// hadEndedContext reports whether any call of an acquisition was made with a context that
// had ended.
func (h *judgedRun) hadEndedContext(id history.Acquisition) bool {
	return slices.ContainsFunc(h.CallsOf(id), func(c *history.Call) bool { return c.Began != nil && c.Began.ContextEnded })
}
