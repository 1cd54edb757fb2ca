package checks

import (
	"slices"
	"strconv"
	"strings"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// If the calls of a lock use different keys, the result looks like another mistake: each client is
// granted the lock, or a release does not remove the key. This file recognises that the keys are
// the cause.

const (
	// differentKeys: two acquisitions of one lock set keys with different names, so neither
	// sees the key of the other.
	differentKeys Mistake = "different-keys"
	// undeclaredKey: the acquisitions of a lock keep their grants under one key, but the lock has
	// declared a key with another name.
	undeclaredKey Mistake = "undeclared-key"
	// asksForOtherKey: extend or release asks a server only for keys that acquire did not set.
	asksForOtherKey Mistake = "asks-for-other-key"
)

// mistakeWithOtherKeys returns the mistake if the lock was granted, in the violation f, because of
// keys that the lock has not declared, or because of a key of another acquisition. Otherwise it
// returns "".
func (h *judgedRun) mistakeWithOtherKeys(f Finding) Mistake {
	setsAgain := func(number int) bool { return h.keySetAgain(h.acquisitionOf(number)) != nil }
	var beside [2][]string
	for i, number := range f.Events[:min(2, len(f.Events))] {
		beside[i] = h.keysBeside(h.acquisitionOf(number))
	}
	isShared := func(key string) bool { return slices.Contains(beside[1], key) }
	switch {
	case h.takesKeyOfOtherHandle(f):
		return equalValues
	case slices.ContainsFunc(beside[0], isShared):
		return undeclaredKey
	case len(beside[0]) > 0 && len(beside[1]) > 0:
		return differentKeys
	case slices.ContainsFunc(f.Events, setsAgain):
		return overwrites
	}
	return ""
}

// keysBeside returns the names of the expiring keys that an acquisition set although they are
// not keys of a lock. It returns nil if the acquisition also set a key of a lock: then the
// other keys serve another purpose.
func (h *judgedRun) keysBeside(a history.Acquisition) (keys []string) {
	for _, k := range h.HoldingsOf(a) {
		switch {
		case h.IsLockKey(k.Key):
			return nil
		case k.By != nil && k.Due != history.Forever:
			keys = append(keys, k.Key)
		}
	}
	return keys
}

// keySetAgain returns the key of another acquisition to which an acquire gave the same value again,
// by a SET without a condition; nil if there is none. The server answers OK to such a SET, but the
// key still belongs to the other acquisition.
func (h *judgedRun) keySetAgain(a history.Acquisition) *history.Holding {
	for _, m := range h.requestsOf(a, trace.Acquire) {
		key, value, isSet := setBy(m.Command())
		if !isSet || !comparesNothing(m.Command()) || m.Arrived == nil || !h.IsLockKey(key) {
			continue
		}
		for _, k := range h.Holdings() {
			if k.Place == (history.Place{Node: m.To, Key: key}) && k.Owner != a && k.Value == value && k.Blocking().Contains(history.MomentOf(m.Arrived)) {
				return k
			}
		}
	}
	return nil
}

// acquisitionOf returns the acquisition that an event belongs to.
func (h *judgedRun) acquisitionOf(number int) history.Acquisition {
	ev := h.Event(number)
	return history.Acquisition{Client: ev.Process, Section: ev.Section}
}

// isLockRequest reports whether a message is a request of a lock to a server, and not one that only
// opens the connection or keeps it alive.
func isLockRequest(m *history.Message) bool {
	return m.To != trace.StorageName && !m.Sent.Reply && !m.Sent.KeepAlive && !m.Sent.Handshake
}

// requestsOf returns the requests that the lock sent in a step of an acquisition.
func (h *judgedRun) requestsOf(a history.Acquisition, step trace.Step) (all []*history.Message) {
	for _, m := range h.Messages() {
		if m.From == a.Client && m.Sent.Section == a.Section && m.Sent.Step == step && isLockRequest(m) {
			all = append(all, m)
		}
	}
	return all
}

// asksForOtherKey reports whether an acquisition has set a key of its lock, but in the given step,
// such as release, sends commands that change only other keys.
func (h *judgedRun) asksForOtherKey(a history.Acquisition, step trace.Step) bool {
	own, asks := h.slotKeys(a), false
	for _, m := range h.requestsOf(a, step) {
		command := m.Command()
		keys := keysOf(command) // nil for a GET, which a goroutine that watches the lease may send
		if keys != nil && slices.ContainsFunc(own, func(k *history.Holding) bool { return slices.Contains(command, k.Key) }) {
			return false
		}
		// A key that some node has had is no wrong name: it serves another purpose than the lock.
		asks = asks || slices.ContainsFunc(keys, func(key string) bool { return !h.wasSet(key) })
	}
	return asks && len(own) > 0
}

// wasSet reports whether any node has had a key.
func (h *judgedRun) wasSet(key string) bool {
	return slices.ContainsFunc(h.Holdings(), func(k *history.Holding) bool { return k.Key == key })
}

// keysOf returns the keys of a command of Redis that runs a script, or that changes one of the
// kinds of keys that locks use. It returns nil for any other command.
func keysOf(command []string) []string {
	if len(command) < 2 {
		return nil
	}
	switch word := strings.ToUpper(command[0]); word {
	case "DEL", "UNLINK":
		return command[1:]
	case "DELEX":
		return command[1:2]
	case "EVAL", "EVALSHA":
		if len(command) < 3 {
			return nil
		}
		n, err := strconv.Atoi(command[2])
		if err != nil || n < 0 {
			return nil
		}
		return command[3:min(3+n, len(command))]
	default:
		if _, changes := conditions[word]; changes {
			return command[1:2]
		}
	}
	return nil
}

// takesKeyOfOtherHandle reports whether a critical section of a violation was granted the lock
// because it mistook the key of another acquisition of the same client for its own. One of these
// signs is enough: the section's acquisition sends the key's value; it has renewed the key; it has
// no key and repeats a fencing token. Another sign is that other clients were refused the lock
// because of the key although no fault acted. In that case the lock compares only which client the
// key belongs to.
func (h *judgedRun) takesKeyOfOtherHandle(f Finding) bool {
	return slices.ContainsFunc(f.Events, func(number int) bool {
		granted, own := history.MomentOf(h.Event(number)), h.acquisitionOf(number)
		return slices.ContainsFunc(h.Holdings(), func(k *history.Holding) bool {
			if !h.IsLockKey(k.Key) || k.Owner.Client != own.Client || k.Owner == own || !k.Blocking().Contains(granted) {
				return false
			}
			isOwnTouch := func(ev *trace.Event) bool { return history.AcquisitionOf(ev.By) == own }
			isRefused := func(c *history.Call) bool {
				return c.Step == trace.Acquire && c.Client != own.Client && c.Failed() && c.Began != nil && c.Began.Seq > k.Set.Seq && k.Blocking().Contains(history.MomentOf(c.Ended))
			}
			return f.Property == TokenOrder && len(h.slotKeys(own)) == 0 || h.sendsValue(own, k.Value) || slices.ContainsFunc(k.Touches, isOwnTouch) || len(h.Acts()) == 0 && slices.ContainsFunc(h.Calls(), isRefused)
		})
	})
}

// sendsValue reports whether an acquisition sends a value in any of its requests.
func (h *judgedRun) sendsValue(a history.Acquisition, value string) bool {
	return value != "" && slices.ContainsFunc(h.Messages(), func(m *history.Message) bool {
		isValue := func(word string) bool { return strings.Trim(word, "[],;'\"") == value }
		return m.From == a.Client && m.Sent.Section == a.Section && slices.ContainsFunc(m.Command(), isValue)
	})
}

// isKeptWithoutExpiry reports whether a key of the lock never expires, and the release ended the
// session on which it should have depended.
func (h *judgedRun) isKeptWithoutExpiry(k *history.Holding) bool {
	lock, isOfLock := h.LockAt(k.Place)
	return isOfLock && lock.TTL > 0 && k.Due == history.Forever && k.Ended == nil && slices.ContainsFunc(h.CallsOf(k.Owner), func(c *history.Call) bool {
		return c.Step == trace.Release && c.Began != nil && slices.ContainsFunc(h.SessionEvents(), func(ev *trace.Event) bool {
			return ev.Kind == trace.KindCloseSession && ev.Peer == k.Owner.Client && ev.Seq > c.Began.Seq
		})
	})
}
