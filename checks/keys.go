package checks

import (
	"time"

	"github.com/locksim/locksim/trace"
)

// place is where a key stands.
type place struct{ node, key string }

// slots are where a lock keeps its grants.
type slots []place

func slotsOf(l trace.LockInfo) slots {
	var s slots
	for _, slot := range l.Slots {
		s = append(s, place{slot.Node, slot.Key})
	}
	return s
}

// promote moves the slots of a master to the replica that takes its place.
func (s slots) promote(ev *trace.Event) {
	for i := range s {
		if s[i].node == ev.Peer {
			s[i].node = ev.Process
		}
	}
}

// A holding is a key that stands on a node.
type holding struct {
	owner acquisition
	value string
	// due is when it has stood for its TTL of true time.
	due time.Duration
}

// A change is what one event did to one key: nil is a key that does not stand.
type change struct {
	ev *trace.Event
	place
	// at is when it took effect.
	at      time.Duration
	was, is *holding
}

// keys follows the keys of a run's nodes. A node that has crashed counts as
// holding what it held until it is restarted, because nobody can be granted
// what it held before.
type keys struct {
	standing map[place]*holding
	down     map[string]bool
	// waiting is what became of the keys of a node that is down.
	waiting map[string][]trace.Event
}

func newKeys() *keys {
	return &keys{
		standing: map[place]*holding{},
		down:     map[string]bool{},
		waiting:  map[string][]trace.Event{},
	}
}

// observe takes in one event and returns what it changed, in order.
func (k *keys) observe(ev *trace.Event) []change {
	switch ev.Kind {
	case trace.KindCrash:
		k.down[ev.Process] = true
	case trace.KindRestart:
		delete(k.down, ev.Process)
		var all []change
		for _, late := range k.waiting[ev.Process] {
			all = append(all, k.apply(&late, ev.At))
		}
		delete(k.waiting, ev.Process)
		return all
	case trace.KindSet, trace.KindTouch, trace.KindRestore, trace.KindDelete, trace.KindExpire, trace.KindForget:
		if k.down[ev.Process] {
			k.waiting[ev.Process] = append(k.waiting[ev.Process], *ev)
			return nil
		}
		return []change{k.apply(ev, ev.At)}
	}
	return nil
}

func (k *keys) apply(ev *trace.Event, at time.Duration) change {
	p := place{ev.Process, ev.Key}
	c := change{ev: ev, place: p, at: at, was: k.standing[p]}
	switch ev.Kind {
	case trace.KindSet, trace.KindTouch, trace.KindRestore:
		c.is = &holding{owner: acquisitionOf(ev.Owner), value: ev.Value, due: forever.at}
		if ev.TTL > 0 {
			c.is.due = at + ev.TTL
		}
		k.standing[p] = c.is
	default:
		delete(k.standing, p)
	}
	return c
}

// alike reports whether every key that stands on one node stands on another with
// the same value.
func (k *keys) alike(node, other string) bool {
	for p, was := range k.standing {
		if is := k.standing[place{other, p.key}]; p.node == node && (is == nil || is.value != was.value) {
			return false
		}
	}
	return true
}
