package history

import (
	"slices"

	"github.com/locksim/locksim/trace"
)

// Slots are the places where a lock keeps its grants. A slot is one key on one node.
type Slots []Place

// slotsOf returns the places where a lock keeps its grants when the run starts.
func slotsOf(l trace.LockInfo) Slots {
	s := make(Slots, len(l.Slots))
	for i, slot := range l.Slots {
		s[i] = Place{slot.Node, slot.Key}
	}
	return s
}

// See processes the next event: a replica that is promoted gets its master's slots.
func (s Slots) See(ev *trace.Event) {
	if ev.Kind != trace.KindPromote {
		return
	}
	for i := range s {
		if s[i].Node == ev.Peer {
			s[i].Node = ev.Process
		}
	}
}

// Contains reports whether a place is one of the slots.
func (s Slots) Contains(p Place) bool { return slices.Contains(s, p) }

// A slotIndex maps each place to the locks that have slots there.
type slotIndex map[Place][]slotCount

// A slotCount is a lock, and how many of its slots are at one place. After promotions,
// several slots can be at the same place.
type slotCount struct {
	lock  string
	slots int
}

// add adds the slots of one more lock.
func (index slotIndex) add(lock string, slots Slots) {
	for _, p := range slots {
		if i := slices.IndexFunc(index[p], func(s slotCount) bool { return s.lock == lock }); i >= 0 {
			index[p][i].slots++
			continue
		}
		index[p] = append(index[p], slotCount{lock, 1})
	}
}

// A slotRecord has the places where the locks keep their grants. It is a chapter of a
// [History].
type slotRecord struct {
	// nodes are the nodes that keep the locks, or the members of their clusters.
	nodes []string
	// keepers are the processes that the slots are on: nodes, or clusters as a whole.
	keepers []string
	// keys are the keys in which the locks keep their grants.
	keys map[string]bool
}

// slotChapter returns the chapter of the places where the locks keep their grants.
func (h *History) slotChapter() *slotRecord {
	return h.slots.get(func() *slotRecord {
		r := &slotRecord{keys: map[string]bool{}}
		for _, l := range h.Trace.Locks {
			r.nodes = append(r.nodes, l.Members...)
			for _, slot := range l.Slots {
				if len(l.Members) == 0 {
					r.nodes = append(r.nodes, slot.Node)
				}
				if !slices.Contains(r.keepers, slot.Node) {
					r.keepers = append(r.keepers, slot.Node)
				}
				r.keys[slot.Key] = true
			}
		}
		r.keepers = h.InWorldOrder(r.keepers)
		if len(r.nodes) > 0 {
			r.nodes = h.InWorldOrder(r.nodes)
			return r
		}
		for _, p := range h.Trace.Processes {
			if p.Role == trace.RoleNode {
				r.nodes = append(r.nodes, p.Name)
				r.keepers = r.nodes
			}
		}
		return r
	})
}

// LockNodes returns the nodes that keep the locks, or the members of their clusters, in the
// order of the world. In a world without locks it returns all nodes.
func (h *History) LockNodes() []string { return h.slotChapter().nodes }

// Keepers returns the processes on which the trace places the locks' keys: nodes, or
// clusters as a whole, in the order of the world. In a world without locks it returns all
// nodes.
func (h *History) Keepers() []string { return h.slotChapter().keepers }

// IsLockKey reports whether a lock keeps its grants in a key.
func (h *History) IsLockKey(key string) bool { return h.slotChapter().keys[key] }

// Slots returns the places where a lock keeps its grants when the run starts.
func (h *History) Slots(lock string) Slots { return slotsOf(h.locks[lock]) }

// LockAt returns the lock that has a slot at a place; ok is false if there is none.
func (h *History) LockAt(place Place) (lock trace.LockInfo, ok bool) {
	for _, l := range h.Trace.Locks {
		if h.Slots(l.Name).Contains(place) {
			return l, true
		}
	}
	return trace.LockInfo{}, false
}
