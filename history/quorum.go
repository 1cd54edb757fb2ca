package history

import "github.com/locksim/locksim/trace"

// OnQuorum returns the acquisitions that ever had a key on a slot of the lock. The value of an
// acquisition says whether it had keys on a quorum of the slots. The keys need not have existed at
// the same time, and the client need not have learnt of them. A replica that was promoted has its
// master's slots.
func (h *History) OnQuorum(lock string) map[Acquisition]bool {
	k, slots := NewKeys(), h.Slots(lock)
	slotsByOwner := map[Acquisition]map[int]bool{} // the indices of the slots
	recordSlot := func(slot int, key *Holding) {
		if key == nil || key.Owner == (Acquisition{}) {
			return
		}
		if slotsByOwner[key.Owner] == nil {
			slotsByOwner[key.Owner] = map[int]bool{}
		}
		slotsByOwner[key.Owner][slot] = true
	}
	for _, ev := range h.nonMessages {
		if ev.Kind == trace.KindPromote {
			slots.See(ev)
			for n, p := range slots {
				recordSlot(n, k.At(p))
			}
		}
		for _, c := range k.See(ev) {
			for n, p := range slots {
				if p == c.Place {
					recordSlot(n, c.After)
				}
			}
		}
	}
	all := map[Acquisition]bool{}
	for id, slots := range slotsByOwner {
		all[id] = len(slots) >= h.locks[lock].Quorum
	}
	return all
}
