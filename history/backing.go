package history

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/trace"
)

// A Backing is a time during which the keys of an acquisition really stood on a quorum of
// its lock's slots (see [Holding.There]).
type Backing struct {
	Interval
	// Lapsed is the event with which that showed not to be so any more; nil if it was so
	// until the end of the run.
	Lapsed *trace.Event
}

// Backed are the times during which the nodes backed a grant of a lock, in order. A sound
// lock has the lease of a section end before its backing does.
func (h *History) Backed(lock string, id Acquisition) []Backing {
	type edge struct {
		Moment
		up     int
		lapsed *trace.Event
	}
	var edges []edge
	for _, slot := range h.slotTimes(lock) {
		for _, key := range h.HoldingsOf(id) {
			there := key.There()
			from, to := Later(there.From, slot.From), Earlier(there.To, slot.To)
			if key.Place != slot.Place || !from.Before(to) {
				continue
			}
			edges = append(edges, edge{Moment: from, up: 1})
			if to == there.To && to != Never {
				edges = append(edges, edge{to, -1, cmp.Or(key.Ended, h.LastBefore(to))})
			} else if to != Never {
				edges = append(edges, edge{to, -1, h.LastBefore(to)})
			}
		}
	}
	// At one moment what comes to stand counts before what no longer does: a key that is
	// set again has no gap.
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
			last.To, last.Lapsed = e.Moment, e.lapsed
		}
	}
	return slices.DeleteFunc(all, func(b Backing) bool { return !b.From.Before(b.To) })
}

// A slotTime is how long a slot of a lock was at a place.
type slotTime struct {
	Place
	Interval
}

// slotTimes are the places of a lock's slots: a replica that takes its master's place has
// its slots from then on.
func (h *History) slotTimes(lock string) []slotTime {
	var all []slotTime
	slots := h.Slots(lock)
	since := make([]Moment, len(slots))
	for i := range since {
		since[i] = StartOf(0)
	}
	for _, ev := range h.Promotions() {
		before := slices.Clone(slots)
		slots.See(ev)
		for i, p := range before {
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
