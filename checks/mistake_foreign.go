package checks

import (
	"slices"
	"strconv"
	"strings"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// If a lock touches the keys of other acquisitions, many different properties can be violated. For
// example, a release reports success although it has removed another client's key, a client cannot
// extend its lease, or a key does not expire. This file finds the command that touched the other
// acquisition's key.

// A damage is a change of a key of the lock by a command of another acquisition, or of an
// acquisition that no longer had the key. An acquisition is one call of acquire and everything that
// follows from it.
type damage struct {
	history.Change
	// removes means that the key was removed, or was given a very short expiry, by which some locks
	// release it. Otherwise the key was extended if Touch is set, and replaced if Touch is not set.
	removes bool
	// command is the command, and sent the event at which it was sent. For a transaction of Redis,
	// the command is the last one in it that names the key.
	command []string
	sent    *trace.Event
	// step is the call whose code sent the command.
	step trace.Step
}

// firstDamage returns the first damage of a run, up to an event; nil if there is none.
func (h *judgedRun) firstDamage(until int) *damage {
	for _, c := range h.KeyChanges() {
		command, sent := h.CommandOf(c.Event.By)
		if sent == nil || c.Event.Seq > until || !h.IsLockKey(c.Key) {
			continue
		}
		isSet := c.After != nil && !c.Touch
		setsGoneKey := isSet && c.Before == nil && (sent.Step == trace.Extend || sent.Step == trace.Release)
		// A client may take over a lease that has ended, but a command that compares nothing does
		// not notice if another client does so at the same time.
		takesUnchecked := isSet && c.Before != nil && c.Before.Owner != history.AcquisitionOf(c.Event.By) && comparesNothing(command)
		if !setsGoneKey && !takesUnchecked && h.judgeOwnership(c).Outcome != Violated {
			continue
		}
		lock, _ := h.LockAt(c.Place)
		isShort := c.Touch && c.Event.TTL > 0 && 10*c.Event.TTL <= lock.TTL && dueBy(c.Event) < c.DueBefore
		d := &damage{Change: c, removes: c.After == nil || isShort, command: h.queuedCommand(command, sent, c.Key), sent: sent}
		d.step = h.callOf(d)
		return d
	}
	return nil
}

// mistakeWithDamage returns the mistake of a command that did a damage, and the call in which it
// was made.
func (h *judgedRun) mistakeWithDamage(d *damage) (Mistake, trace.Step) {
	isUnchecked := comparesNothing(d.command)
	switch {
	case d.Before == nil && d.step == trace.Extend:
		return setsGoneKey, trace.Extend
	case !isUnchecked && (h.comparesEqualValues() || d.Before != nil && sendsToScript(d.command, d.Before.Value)):
		return equalValues, ""
	case isAdvisoryStatement(d.command):
		return sharesSession, d.sent.Step
	case isUnchecked && h.wasReadBefore(d):
		return checksThenActs, d.step
	case d.removes && isUnchecked:
		return removesUnchecked, d.step
	case d.removes:
		return removesForeign, d.step
	case !d.Touch:
		return overwrites, d.step
	case isUnchecked && h.hadSetWithoutExpiry(d):
		return keyNeverExpires, d.step
	case isUnchecked:
		return extendsUnchecked, d.step
	}
	return extendsForeign, d.step
}

// hadSetWithoutExpiry reports whether the acquisition that did a damage had set the key before,
// without an expiry. Then the damage is the second command, which was to set the expiry.
func (h *judgedRun) hadSetWithoutExpiry(d *damage) bool {
	return slices.ContainsFunc(h.HoldingsOf(history.AcquisitionOf(d.Event.By)), func(k *history.Holding) bool {
		return k.Place == d.Place && k.Set.Seq < d.sent.Seq && dueBy(k.Set) == history.Forever
	})
}

// wasReadBefore reports whether the client read the key by a GET in the same call, before it did
// the damage. The command that did the damage may have been sent after the call had returned.
func (h *judgedRun) wasReadBefore(d *damage) bool {
	return slices.ContainsFunc(h.Messages(), func(m *history.Message) bool {
		ev := m.Sent
		isOfCall := ev.Step == d.sent.Step || ev.Step == d.step || ev.Step == trace.Release && !d.sent.Step.AtLock()
		return ev.Seq < d.sent.Seq && ev.Process == d.sent.Process && isOfCall && ev.Section == d.sent.Section && isGet(m.Command(), d.Key)
	})
}

// callOf returns the call of the lock whose code sent the command of a damage, which need not be
// the call that the client was in. A lock that cleans up after a failed acquire mostly runs the
// code of its release. So callOf returns release for a command in acquire if a release of the run
// sends the same command. It does so also for a removal, if the run shows no release or if the
// acquire had sent nothing else before. But it returns acquire if acquires of the run begin with
// this command, or if the same acquire set a key afterwards. For a command in release that gives a
// key more time it returns extend, because code of extend can still run while the client already
// releases the lock.
func (h *judgedRun) callOf(d *damage) trace.Step {
	step, a := d.sent.Step, history.AcquisitionOf(d.Event.By)
	if step != trace.Acquire && step.AtLock() {
		if step == trace.Release && d.Touch && !d.removes && h.firstCall(a, trace.Extend) != nil {
			return trace.Extend
		}
		return step
	}
	isSame := func(m *history.Message) bool { return isSameCode(m.Command(), d.command) }
	isBefore := func(m *history.Message) bool { return m.Sent.Seq < d.sent.Seq && !isSame(m) }
	isSetLater := func(k *history.Holding) bool { // not back to the old value
		return k.By != nil && k.By.Sent > d.sent.Seq && (d.Before == nil || k.Value != d.Before.Value)
	}
	// If the attempt sent only this command, its command for acquiring may have failed before it
	// was sent, as on a closed connection.
	isAlone := !slices.ContainsFunc(h.requestsOf(a, step), isBefore)
	isFirst := isAlone && h.beginsAcquire(isSame)
	if step == trace.Acquire && (isFirst || slices.ContainsFunc(h.slotKeys(a), isSetLater)) {
		return step
	}
	isOther := func(m *history.Message) bool { return m.Sent.Step != trace.Release || !isLockRequest(m) }
	releases := slices.DeleteFunc(slices.Clone(h.Messages()), isOther)
	if slices.ContainsFunc(releases, isSame) || d.removes && (len(releases) == 0 || isAlone) {
		return trace.Release
	}
	return step
}

// beginsAcquire reports whether some acquire sends a command for which isSame is true, and then a
// different command.
func (h *judgedRun) beginsAcquire(isSame func(*history.Message) bool) bool {
	began := map[history.Acquisition]bool{}
	for _, m := range h.Messages() {
		if m.Sent.Step != trace.Acquire || !isLockRequest(m) {
			continue
		}
		a := history.Acquisition{Client: m.From, Section: m.Sent.Section}
		if isSame(m) {
			began[a] = true
		} else if began[a] {
			return true
		}
	}
	return false
}

// isSameCode reports whether the same line of a lock's code may have sent two commands: their first
// two words are equal, for example SET and a key, or EVAL and a script.
func isSameCode(a, b []string) bool {
	word := func(c []string) string {
		if strings.EqualFold(c[0], "evalsha") {
			return "EVAL" // the client sends the script itself if the server does not know it
		}
		return strings.ToUpper(c[0])
	}
	return len(a) > 0 && len(b) > 0 && word(a) == word(b) && slices.Equal(a[1:min(2, len(a))], b[1:min(2, len(b))])
}

// queuedCommand returns the given command, unless it is the EXEC of a Redis transaction. Then it
// returns the last command of the transaction that names the key, or the EXEC if none does.
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
