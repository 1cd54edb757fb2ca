package checks

import (
	"slices"
	"strconv"
	"strings"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// If the calls of a lock do not agree on its key, this looks like another mistake: each client
// is granted the lock, or a release does not remove the key.

const (
	// differentKeys: two acquisitions of one lock set keys with different names, so neither
	// sees the key of the other.
	differentKeys Mistake = "different-keys"
	// undeclaredKey: the acquisitions of a lock keep their grants under one key, but the trace
	// has another name for it.
	undeclaredKey Mistake = "undeclared-key"
	// asksForOtherKey: extend or release asks a server only for keys that acquire did not set.
	asksForOtherKey Mistake = "asks-for-other-key"
)

// mistakeWithOtherKeys returns the mistake of a lock that is granted, in a violation f, by
// keys outside of its slots; "" if it is not.
func (h *judgedRun) mistakeWithOtherKeys(f Finding) Mistake {
	if len(f.Events) < 2 {
		return ""
	}
	first, second := h.keysBeside(h.acquisitionOf(f.Events[0])), h.keysBeside(h.acquisitionOf(f.Events[1]))
	switch {
	case len(first) == 0 || len(second) == 0:
		return ""
	case slices.ContainsFunc(first, func(key string) bool { return slices.Contains(second, key) }):
		return undeclaredKey
	}
	return differentKeys
}

// keysBeside returns the names of the expiring keys that an acquisition set although they
// are not keys of a lock. It returns nil if the acquisition also set a key of a lock: then
// the others are for something else.
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

// keySetAgain returns the key of another acquisition to which an acquire gave the same value
// again, by a SET without a condition; nil if there is none. The server answers OK, and the key
// does not change its owner.
func (h *judgedRun) keySetAgain(a history.Acquisition) *history.Holding {
	for _, m := range h.Messages() {
		if m.From != a.Client || m.Sent.Section != a.Section || m.Sent.Step != trace.Acquire || m.Arrived == nil {
			continue
		}
		key, value, isSet := setBy(m.Command())
		if !isSet || slices.ContainsFunc(m.Command(), func(word string) bool { return strings.EqualFold(word, "nx") }) {
			continue
		}
		for _, k := range h.Holdings() {
			if k.Place == (history.Place{Node: m.To, Key: key}) && h.IsLockKey(key) && k.Owner != a && k.Value == value && k.Withheld().Contains(history.MomentOf(m.Arrived)) {
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

// asksForOtherKey reports whether an acquisition has set a key of its lock, and the commands by
// which one of its calls changes keys name only other keys.
func (h *judgedRun) asksForOtherKey(a history.Acquisition, step trace.Step) bool {
	var own []string
	for _, k := range h.HoldingsOf(a) {
		if h.IsLockKey(k.Key) {
			own = append(own, k.Key)
		}
	}
	asks := false
	for _, m := range h.Messages() {
		if m.From != a.Client || m.Sent.Section != a.Section || m.Sent.Step != step {
			continue
		}
		command := m.Command()
		keys := keysOf(command)
		if keys == nil {
			continue // a GET, for example by a goroutine that watches the lease
		}
		if slices.ContainsFunc(own, func(key string) bool { return slices.Contains(command, key) }) {
			return false
		}
		// A key that exists is for something else than the lock.
		asks = asks || slices.ContainsFunc(keys, func(key string) bool { return !h.wasSet(key) })
	}
	return asks && len(own) > 0
}

// wasSet reports whether any node has had a key.
func (h *judgedRun) wasSet(key string) bool {
	return slices.ContainsFunc(h.Holdings(), func(k *history.Holding) bool { return k.Key == key })
}

// keysOf returns the keys that a command of Redis names; nil if the command changes no key.
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

// isRefusedToOthersOnly reports whether a section of the violation was granted the lock by
// a key that another acquisition of its own client held, while other clients were refused it
// because of that key. So the lock reads whose key it is, and knows only the client.
func (h *judgedRun) isRefusedToOthersOnly(f Finding) bool {
	if len(h.Acts()) > 0 {
		return false // a fault may be why it was granted
	}
	return slices.ContainsFunc(f.Events, func(number int) bool {
		granted, own := h.Event(number), h.acquisitionOf(number)
		return slices.ContainsFunc(h.Holdings(), func(k *history.Holding) bool {
			isOfOtherHandle := h.IsLockKey(k.Key) && k.Owner.Client == own.Client && k.Owner != own && k.Withheld().Contains(history.MomentOf(granted))
			return isOfOtherHandle && slices.ContainsFunc(h.Calls(), func(c *history.Call) bool {
				return c.Step == trace.Acquire && c.Client != own.Client && c.Failed() && c.Began != nil && c.Began.Seq > k.Set.Seq && k.Withheld().Contains(history.MomentOf(c.Ended))
			})
		})
	})
}

// usesKeyOfOtherHandle reports whether the acquisition of an event has set no key of the lock, and
// another acquisition of the same client had one at that event.
func (h *judgedRun) usesKeyOfOtherHandle(number int) bool {
	own, at := h.acquisitionOf(number), history.MomentOf(h.Event(number))
	return len(h.slotKeys(own)) == 0 && slices.ContainsFunc(h.Holdings(), func(k *history.Holding) bool {
		return h.IsLockKey(k.Key) && k.Owner.Client == own.Client && k.Owner != own && k.Withheld().Contains(at)
	})
}

// keptWithoutExpiry returns a key of an acquisition that never expires, and that a release did
// not name: the release ended the session on which the key should have depended. It returns nil if
// there is none.
func (h *judgedRun) keptWithoutExpiry(a history.Acquisition) *history.Holding {
	for _, k := range h.HoldingsOf(a) {
		lock, isOfLock := h.LockAt(k.Place)
		if !isOfLock || lock.TTL == 0 || k.Due != history.Forever || k.Ended != nil {
			continue
		}
		asks, names := false, false
		for _, m := range h.Messages() {
			if m.From == a.Client && m.Sent.Section == a.Section && m.Sent.Step == trace.Release && m.To != trace.StorageName && !m.Sent.Reply && !m.Sent.KeepAlive && !m.Sent.Handshake {
				asks, names = true, names || m.Mentions(k.Key)
			}
		}
		if asks && !names {
			return k
		}
	}
	return nil
}
