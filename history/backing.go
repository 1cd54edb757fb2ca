package history

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/trace"
)

// A Backing is an interval during which nodes backed a grant: the keys that the call of acquire had
// set really existed on a quorum of the lock's slots. A slot is one key on one node. Whether a key
// really existed is known with hindsight; see [Holding.Existence].
type Backing struct {
	Interval
	// EndedBy is the event that showed that the backing had ended; nil if it lasted until
	// the end of the run.
	EndedBy *trace.Event
}

// Backings returns the intervals during which the nodes backed a grant of a lock, in order. id is
// the acquisition that led to the grant: one call of acquire. With a sound lock, the lease of a
// grant ends before the backing of the grant ends.
func (h *History) Backings(lock string, id Acquisition) []Backing {
	type edge struct {
		Moment
		up     int
		lapsed *trace.Event
	}
	var edges []edge
	for _, slot := range h.slotTimes(lock) {
		for _, key := range h.HoldingsOf(id) {
			existence := key.Existence()
			from, to := Later(existence.From, slot.From), Earlier(existence.To, slot.To)
			if key.Place != slot.Place || !from.Before(to) {
				continue
			}
			edges = append(edges, edge{Moment: from, up: 1})
			if to == existence.To && to != Never {
				edges = append(edges, edge{to, -1, cmp.Or(key.Ended, h.LastUntil(to))})
			} else if to != Never {
				edges = append(edges, edge{to, -1, h.LastUntil(to)})
			}
		}
	}
	// At one moment, beginnings come before ends. So a key that is replaced by a copy of itself
	// leaves no gap.
	slices.SortStableFunc(edges, func(a, b edge) int {
		return cmp.Or(a.compare(b.Moment), b.up-a.up)
	})
	var all []Backing
	n, quorum := 0, h.locks[lock].Quorum
	for _, e := range edges {
		switch n += e.up; {
		case e.up > 0 && n == quorum:
			all = append(all, Backing{Interval: Interval{e.Moment, Never}})
		case e.up < 0 && n == quorum-1:
			last := &all[len(all)-1]
			last.To, last.EndedBy = e.Moment, e.lapsed
		}
	}
	return slices.DeleteFunc(all, func(b Backing) bool { return !b.From.Before(b.To) })
}

// A slotTime is an interval during which a slot of a lock was at a place. The place changes
// when a replica takes over from its master.
type slotTime struct {
	Place
	Interval
}

// slotTimes returns the places of a lock's slots over time. From its promotion on, a
// replica has the slots of the master that it replaced.
func (h *History) slotTimes(lock string) []slotTime {
	var all []slotTime
	slots := h.Slots(lock)
	since := make([]Moment, len(slots))
	for i := range since {
		since[i] = StartOf(0)
	}
	for _, ev := range h.Promotions() {
		oldSlots := slices.Clone(slots)
		slots.See(ev)
		for i, p := range oldSlots {
			if p != slots[i] {
				all = append(all, slotTime{p, Interval{since[i], MomentOf(ev)}})
				since[i] = MomentOf(ev)
			}
		}
	}
	for i, p := range slots {
		all = append(all, slotTime{p, Interval{since[i], Never}})
	}
	return all
}
