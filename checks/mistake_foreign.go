package checks

import (
	"slices"
	"strconv"
	"strings"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// A lock that touches the keys of other acquisitions shows it in many ways: a release reports
// success although it has removed another client's key, a client cannot extend its lease, or a key
// does not expire. This file finds the command that touched the key.

// isForeign reports whether a change of a key was made by another acquisition than the one that
// had set the key.
func isForeign(c history.Change) bool {
	by := c.Event.By
	return by != nil && c.Before != nil && c.Before.Owner != history.AcquisitionOf(by)
}

// damageBy returns the event in which a command of a call removed another acquisition's key of a
// lock, nearly removed or replaced it, or in which a release set a key where there was none. It
// returns nil if none did, or if the call is nil.
func (h *judgedRun) damageBy(c *history.Call) *trace.Event {
	if c == nil {
		return nil
	}
	for _, change := range h.KeyChanges() {
		by := change.Event.By
		isOfCall := by != nil && by.Client == c.Client && c.Began.Seq < by.Sent && by.Sent < c.Ended.Seq
		isRemoved := isForeign(change) && (!change.Touch || h.nearlyRemoves(change))
		isSetByRelease := c.Step == trace.Release && change.Before == nil && change.After != nil
		if isOfCall && h.IsLockKey(change.Key) && (isRemoved || isSetByRelease) {
			return change.Event
		}
	}
	return nil
}

// damageTo returns the event before another event in which another client removed or replaced a
// key of the lock that an acquisition had; nil if none did.
func (h *judgedRun) damageTo(a history.Acquisition, before int) *trace.Event {
	for _, k := range h.slotKeys(a) {
		isDamaged := k.How == history.Removed || k.How == history.Overwritten
		if isDamaged && k.Ended.Seq < before && k.Ended.By != nil && k.Ended.By.Client != a.Client && !h.isTakenOver(k) {
			return k.Ended
		}
	}
	return nil
}

// replacedBy returns the key of another client that was there until a key was set, and that setting
// it replaced; nil if there was none.
func (h *judgedRun) replacedBy(k *history.Holding) *history.Holding {
	for _, old := range h.Holdings() {
		if old.Place == k.Place && old.How == history.Overwritten && old.Ended.Seq == k.Set.Seq && old.Owner.Client != k.Owner.Client && !h.isTakenOver(old) {
			return old
		}
	}
	return nil
}

// isTakenOver reports whether a key ended because another client took the lock over, as it may.
func (h *judgedRun) isTakenOver(k *history.Holding) bool {
	return slices.ContainsFunc(h.KeyChanges(), func(c history.Change) bool {
		return c.Event.Seq == k.Ended.Seq && c.Place == k.Place && c.Event.By != nil && h.isTakeover(c, c.Event.By)
	})
}

// hasReplaced returns a key of an acquisition with which it replaced another client's key; nil if
// there is none.
func (h *judgedRun) hasReplaced(a history.Acquisition) *history.Holding {
	for _, k := range h.slotKeys(a) {
		if h.replacedBy(k) != nil {
			return k
		}
	}
	return nil
}

// lastForeignTouch returns the last touch of a key if another client made it and prolonged the
// key's life; otherwise nil.
func (h *judgedRun) lastForeignTouch(k *history.Holding) *trace.Event {
	if len(k.Touches) == 0 {
		return nil
	}
	last := k.Touches[len(k.Touches)-1]
	if last.By == nil || last.By.Client == k.Owner.Client || dueBy(last) <= dueBy(k.Set) {
		return nil
	}
	return last
}

// nearlyRemoves reports whether a touch made a key expire within a tenth of the TTL, and sooner
// than before. Some locks release by a very short expiry.
func (h *judgedRun) nearlyRemoves(c history.Change) bool {
	lock, isOfLock := h.LockAt(c.Place)
	return c.Touch && c.Before != nil && isOfLock && lock.TTL > 0 && c.Event.TTL > 0 && 10*c.Event.TTL <= lock.TTL && dueBy(c.Event) < dueBy(c.Before.Set)
}

// wasShortened reports whether the last touch of a key made it expire sooner than it would have
// expired when it was set.
func wasShortened(k *history.Holding) bool {
	return len(k.Touches) > 0 && dueBy(k.Touches[len(k.Touches)-1]) < dueBy(k.Set)
}

// callOf returns the call of the lock whose code sent a command. After a failed acquire a lock
// cleans up with the code of its release: acquire sends the command after another one, or it is
// sent after acquire has returned, and a release sends it, too.
func (h *judgedRun) callOf(command []string, sent *trace.Event) trace.Step {
	if sent.Step != trace.Acquire && slices.Contains(lockCalls, sent.Step) {
		return sent.Step
	}
	var released, later [][]string
	asksBefore := false
	for _, m := range h.Messages() {
		switch isOfCall := m.From == sent.Process && m.Sent.Section == sent.Section && m.Sent.Step == trace.Acquire; {
		case m.Sent.Reply || m.Sent.KeepAlive || m.Sent.Handshake || m.To == trace.StorageName:
		case m.Sent.Step == trace.Release:
			released = append(released, m.Command())
		case isOfCall && m.Sent.Seq > sent.Seq:
			later = append(later, m.Command())
		case isOfCall && !isSameCode(m.Command(), command):
			asksBefore = true
		}
	}
	isOfRelease := func(c []string) bool {
		return slices.ContainsFunc(released, func(other []string) bool { return isSameCode(c, other) })
	}
	isOther := func(c []string) bool { return !isOfRelease(c) }
	if isOfRelease(command) && (sent.Step != trace.Acquire || asksBefore && !slices.ContainsFunc(later, isOther)) {
		return trace.Release
	}
	return sent.Step
}

// isSameCode reports whether the same line of a lock's code may have sent two commands: they agree
// in their first two words, such as the name of a command and a key, or in a script.
func isSameCode(a, b []string) bool {
	word := func(c []string) string {
		if strings.EqualFold(c[0], "evalsha") {
			return "EVAL" // the client sends the script itself if the server does not know it
		}
		return strings.ToUpper(c[0])
	}
	return len(a) > 0 && len(b) > 0 && word(a) == word(b) && slices.Equal(a[1:min(2, len(a))], b[1:min(2, len(b))])
}

// queuedCommand returns, for the EXEC of a Redis transaction, its last command that names a key,
// and otherwise the command itself.
func (h *judgedRun) queuedCommand(command []string, sent *trace.Event, key string) []string {
	if len(command) != 1 || !strings.EqualFold(command[0], "exec") {
		return command
	}
	for _, m := range slices.Backward(h.Messages()) {
		if m.Sent.Seq >= sent.Seq || m.From != sent.Process || m.To != sent.Peer || m.Sent.Conn != sent.Conn || m.Sent.Reply {
			continue
		}
		queued := m.Command()
		switch {
		case len(queued) == 1 && strings.EqualFold(queued[0], "multi"):
			return command
		case slices.Contains(queued, key):
			return queued
		}
	}
	return command
}

// sendsToScript reports whether a command runs a script of Redis with a value as an argument.
func sendsToScript(command []string, value string) bool {
	if len(command) < 3 || value == "" || !slices.Contains([]string{"EVAL", "EVALSHA"}, strings.ToUpper(command[0])) {
		return false
	}
	n, err := strconv.Atoi(command[2])
	return err == nil && n >= 0 && slices.Contains(command[min(3+n, len(command)):], value)
}
