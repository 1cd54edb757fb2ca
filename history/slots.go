package history

import (
	"slices"

	"github.com/locksim/locksim/trace"
)

// Slots are where a lock keeps its grants.
type Slots []Place

// slotsOf are where a lock keeps its grants when the run starts.
func slotsOf(l trace.LockInfo) Slots {
	s := make(Slots, len(l.Slots))
	for i, slot := range l.Slots {
		s[i] = Place{slot.Node, slot.Key}
	}
	return s
}

// See takes in the next event: a replica that takes its master's place has its slots.
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

// Has says whether a place is one of the slots.
func (s Slots) Has(p Place) bool { return slices.Contains(s, p) }

// seats say whose slots are at each place.
type seats map[Place][]seat

// A seat is that some of a lock's slots are at one place: one, or more after promotions.
type seat struct {
	lock  string
	slots int
}

// add says where the slots of one more lock are.
func (at seats) add(lock string, slots Slots) {
	for _, p := range slots {
		if i := slices.IndexFunc(at[p], func(s seat) bool { return s.lock == lock }); i >= 0 {
			at[p][i].slots++
			continue
		}
		at[p] = append(at[p], seat{lock, 1})
	}
}

// A slotRecord is the chapter of where the locks keep their grants.
type slotRecord struct {
	nodes []string
	// keepers are where the slots are.
	keepers []string
	keys    map[string]bool
}

func (h *History) slotted() *slotRecord {
	return h.slots.of(func() *slotRecord {
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
		r.keepers = h.InOrder(r.keepers)
		if len(r.nodes) > 0 {
			r.nodes = h.InOrder(r.nodes)
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

// LockNodes are the nodes that the locks are kept on, or the members of their clusters, in
// the order of the world; in a world without locks, all.
func (h *History) LockNodes() []string { return h.slotted().nodes }

// Keepers are the processes of which it is told that the locks' keys stand there: their
// nodes, or clusters, in the order of the world; in a world without locks, all nodes.
func (h *History) Keepers() []string { return h.slotted().keepers }

// IsLockKey reports whether a lock keeps its grants in a key.
func (h *History) IsLockKey(key string) bool { return h.slotted().keys[key] }

// Slots are where a lock keeps its grants when the run starts.
func (h *History) Slots(lock string) Slots { return slotsOf(h.locks[lock]) }

// LockAt returns the lock of which a place is a slot, and false if it is none of any lock.
func (h *History) LockAt(place Place) (lock trace.LockInfo, ok bool) {
	for _, l := range h.Trace.Locks {
		if h.Slots(l.Name).Has(place) {
			return l, true
		}
	}
	return trace.LockInfo{}, false
}
