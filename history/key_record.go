package history

import (
	"slices"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/trace"
)

// A keyRecord has all keys that existed in a run, and all their changes. It is a chapter of
// the run's [History].
type keyRecord struct {
	holdings      []*Holding
	byAcquisition map[Acquisition][]*Holding
	changes       []Change
}

// keyChapter returns the chapter of keys.
func (h *History) keyChapter() *keyRecord {
	return h.keys.get(func() *keyRecord {
		r := &keyRecord{byAcquisition: map[Acquisition][]*Holding{}, changes: make([]Change, 0, 32)}
		k := NewKeys()
		for _, ev := range h.nonMessages {
			for _, c := range k.See(ev) {
				r.changes = append(r.changes, c)
				if c.After != nil && c.After != c.Before {
					r.holdings = append(r.holdings, c.After)
					r.byAcquisition[c.After.Owner] = append(r.byAcquisition[c.After.Owner], c.After)
				}
			}
		}
		for node, since := range k.down {
			for _, p := range k.places {
				if key := k.existing[p]; key != nil && p.Node == node {
					key.outages = append(key.outages, Interval{since, Never})
				}
			}
		}
		for _, key := range r.holdings {
			if key.How == Expired && len(key.outages) > 0 {
				set, clock := key.lastExpiryEvent(), h.clocks.Of(key.Node, fakeclock.Wall)
				key.expiredAt = clock.trueTimeOf(clock.ReadingAt(MomentOf(set))+int64(set.TTL), MomentOf(set))
			}
		}
		return r
	})
}

// Holdings returns all keys that ever existed on a node, in the order in which they
// appeared there.
func (h *History) Holdings() []*Holding { return h.keyChapter().holdings }

// HoldingsOf returns the keys that an acquisition set, or that a restart or promotion
// brought back for it, in the order in which they appeared on their nodes.
func (h *History) HoldingsOf(id Acquisition) []*Holding { return h.keyChapter().byAcquisition[id] }

// KeyChanges returns all changes of keys on nodes, in the order in which they took effect.
func (h *History) KeyChanges() []Change { return h.keyChapter().changes }

// A Loss is a key of a lock that a node did not keep for the key's TTL of true time. A key
// that a client's command removed is not lost. A key that an operator deleted by hand is
// lost, because no client asked for that, and no client is notified.
type Loss struct {
	// Event is the event that showed the loss.
	Event *trace.Event
	// Key is the lost key. Early says that a clock ended it too early: the clock of its
	// node, or of the client that took the lock over. ConnectionLost says that the
	// connection that held the key ended. If neither is set, the node forgot it, an
	// operator deleted it, or a replica without the key took the node's place.
	Key                   *Holding
	Early, ConnectionLost bool
}

// Losses returns the keys of a lock that nodes lost, in order.
func (h *History) Losses(lock string) []Loss {
	return h.losses.get(h.readLosses)[lock]
}

// readLosses computes the losses of all locks, by lock.
func (h *History) readLosses() map[string][]Loss {
	all := map[string][]Loss{}
	addLoss := func(lock string, l Loss) { all[lock] = append(all[lock], l) }
	slots := map[string]Slots{}
	for _, l := range h.Trace.Locks {
		slots[l.Name] = slotsOf(l)
	}
	indexSlots := func() slotIndex {
		index := slotIndex{}
		for lock, slots := range slots {
			index.add(lock, slots)
		}
		return index
	}
	k, index := NewKeys(), indexSlots()
	for _, ev := range h.nonMessages {
		if ev.Kind == trace.KindPromote {
			for lock, slots := range slots {
				for _, p := range slots {
					masterKey, replicaKey := k.At(p), k.At(Place{ev.Process, p.Key})
					if p.Node == ev.Peer && masterKey != nil && ev.At < masterKey.Due && (replicaKey == nil || replicaKey.Owner != masterKey.Owner) {
						addLoss(lock, Loss{Event: ev, Key: masterKey})
					}
				}
				slots.See(ev)
			}
			index = indexSlots()
		}
		for _, c := range k.See(ev) {
			if c.Before == nil || c.At >= c.DueBefore {
				continue
			}
			for _, s := range index[c.Place] {
				switch {
				case c.Event.Kind == trace.KindExpire && h.expiredTooEarly(c):
					addLoss(s.lock, Loss{Event: c.Event, Key: c.Before, Early: true})
				case c.Event.Kind == trace.KindDrop:
					addLoss(s.lock, Loss{Event: c.Event, Key: c.Before, ConnectionLost: true})
				case c.Event.Kind == trace.KindForget,
					c.How == Removed && c.Event.By.IsOperator(),
					c.Event.Kind == trace.KindRestore && (c.After.Owner != c.Before.Owner || c.After.Due < c.DueBefore):
					addLoss(s.lock, Loss{Event: c.Event, Key: c.Before})
				}
			}
		}
	}
	return all
}

// expiredTooEarly reports whether a clock that counted too much time ended a key before its TTL of
// true time. c is the change that ended the key, before that time. If no client caused the change,
// the node's clock did, so the result is true. If a client took the key over, the clock is that
// client's. It must have reached the end that the key declares. If the key declares none, the clock
// must have counted more time than passed.
func (h *History) expiredTooEarly(c Change) bool {
	if c.Event.By == nil {
		return true
	}
	if ends := c.Before.lastExpiryEvent().LeaseEnd; ends != nil {
		return h.clocks.Of(c.Event.By.Client, ends.Clock).ReadingAt(MomentOf(c.Event)) >= ends.Nanos
	}
	clock := h.clocks.Of(c.Event.By.Client, fakeclock.Monotonic)
	from, to := MomentOf(c.Before.lastExpiryEvent()), MomentOf(c.Event)
	return clock.ReadingAt(to)-clock.ReadingAt(from) > int64(to.At-from.At)
}

// RevivedByClock reports whether an event results from setting a node's clock back: a key that had
// expired exists again, because by the new time it has not expired yet. Such an event follows the
// event of the clock within the same nanosecond.
func (h *History) RevivedByClock(ev *trace.Event) bool {
	for _, before := range slices.Backward(h.Trace.Events[:ev.Seq-1]) {
		switch {
		case before.At != ev.At:
			return false
		case before.Process == ev.Process && before.Kind == trace.KindClock:
			return before.Clocks.Why == trace.Jumped
		case before.Process == ev.Process && before.Kind != trace.KindRestore && before.Kind != trace.KindExpire:
			return false
		}
	}
	return false
}

// NodesForgot reports whether a node that a lock uses lost a key, such as a grant or a counter of
// tokens, after the event since and up to the event until. A node can lose a key in a crash,
// because an operator deletes the key, or because a replica that has not received the key takes the
// node's place.
func (h *History) NodesForgot(lock string, since, until int) bool {
	k, slots := NewKeys(), h.Slots(lock)
	used := func(node string) bool {
		return len(slots) == 0 || slices.ContainsFunc(slots, func(p Place) bool { return p.Node == node })
	}
	crashed := map[string]bool{}
	for i := range h.Trace.Events[:until] {
		ev := &h.Trace.Events[i]
		switch ev.Kind {
		case trace.KindCrash:
			crashed[ev.Process] = true
		case trace.KindPromote:
			if ev.Seq > since && used(ev.Peer) && !k.haveSameKeys(ev.Peer, ev.Process) {
				return true
			}
			slots.See(ev)
		}
		for _, c := range k.See(ev) {
			lost := c.Event.Kind == trace.KindForget || c.Event.Kind == trace.KindRestore && crashed[c.Node] ||
				c.How == Removed && c.Event.By.IsOperator()
			if lost && ev.Seq > since && used(c.Node) {
				return true
			}
		}
	}
	return false
}
