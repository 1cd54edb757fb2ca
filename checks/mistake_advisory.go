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

// isHeldInOtherSession reports whether a key is an advisory lock, and its release asked only
// sessions that do not hold it.
func (h *judgedRun) isHeldInOtherSession(k *history.Holding) bool {
	_, granted := h.CommandOf(k.By)
	if granted == nil || granted.Step != trace.Acquire || !h.IsLockKey(k.Key) {
		return false
	}
	asksOther, asksHolder := false, false
	for _, m := range h.requestsOf(k.Owner, trace.Release) {
		if m.To == k.Node && isAdvisoryUnlock(m.Command()) {
			asksHolder = asksHolder || m.Sent.Conn == granted.Conn
			asksOther = asksOther || m.Arrived != nil && (k.Ended == nil || k.Ended.Seq > m.Arrived.Seq)
		}
	}
	return asksOther && !asksHolder
}

// isAdvisoryUnlock reports whether a request is a statement of PostgreSQL that releases an
// advisory lock.
func isAdvisoryUnlock(command []string) bool {
	return slices.ContainsFunc(command, func(word string) bool { return strings.Contains(strings.ToLower(word), "pg_advisory_unlock") })
}
