package checks

import (
	"slices"
	"strings"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// unlocksInOtherSession: release asks a session of PostgreSQL to unlock an advisory lock that
// another session of the same client holds. The server answers false, and the lock stays held.
// A pool of connections makes this mistake if it chooses a connection for each statement.
const unlocksInOtherSession Mistake = "unlocks-in-other-session"

// heldInOtherSession returns the advisory lock of an acquisition whose release asked only other
// sessions than the one that holds it; nil if there is none.
func (h *judgedRun) heldInOtherSession(a history.Acquisition) *history.Holding {
	for _, k := range h.HoldingsOf(a) {
		if k.By == nil || !h.IsLockKey(k.Key) {
			continue
		}
		granted := h.Event(k.By.Sent)
		if granted == nil || granted.Step != trace.Acquire {
			continue
		}
		asksOther, asksHolder := false, false
		for _, m := range h.Messages() {
			if m.From != a.Client || m.To != k.Node || m.Sent.Section != a.Section || m.Sent.Step != trace.Release || !isAdvisoryUnlock(m.Command()) {
				continue
			}
			isEarlier := k.Ended != nil && m.Arrived != nil && k.Ended.Seq < m.Arrived.Seq
			switch {
			case m.Sent.Conn == granted.Conn:
				asksHolder = true
			case m.Arrived != nil && !isEarlier:
				asksOther = true
			}
		}
		if asksOther && !asksHolder {
			return k
		}
	}
	return nil
}

// keptByOtherSession returns an advisory lock that is still held at the end of the run because
// its release asked another session; nil if there is none.
func (h *judgedRun) keptByOtherSession() *history.Holding {
	for _, k := range h.Holdings() {
		if k.Ended == nil && h.heldInOtherSession(k.Owner) == k {
			return k
		}
	}
	return nil
}

// isAdvisoryUnlock reports whether a request is a statement of PostgreSQL that releases an
// advisory lock.
func isAdvisoryUnlock(command []string) bool {
	return slices.ContainsFunc(command, func(word string) bool { return strings.Contains(strings.ToLower(word), "pg_advisory_unlock") })
}
