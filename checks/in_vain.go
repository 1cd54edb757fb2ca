package checks

import "github.com/locksim/locksim/history"

// prolongedInVain reports whether it takes nodes that prolonged a section's lease in vain for
// it to have stood on a quorum of its lock's slots at the event at: without them it did not.
// It counts slots, as a grant does. One such node of five does not let anybody else in, so a
// lock that let somebody in all the same has no excuse.
func (h *inquiry) prolongedInVain(s *history.Section, at int) bool {
	promised, kept := 0, 0
	for _, slot := range h.Slots(s.Lock) {
		switch h.promise(s.Acquisition, slot, at) {
		case promiseKept:
			promised++
			kept++
		case promisedInVain:
			promised++
		}
	}
	quorum := h.Lock(s.Lock).Quorum
	return promised >= quorum && kept < quorum
}

// A promise is what an acquisition was told of one slot of its lock.
type promise int

const (
	// promisedNothing: that its key would not stand any more, or never did.
	promisedNothing promise = iota
	// promiseKept: that its key would stand, by the node whose slot it is. That the node
	// lost it all the same is another matter; see broken.
	promiseKept
	// promisedInVain: that its key would stand, for longer than the node knows of whose slot
	// it is. That has taken the place of the one which prolonged it: since, or before, when
	// the old one did not know that it is none any more.
	promisedInVain
)

// promise says what an acquisition had been told, up to the event at, of its key in a slot at
// that time.
func (h *inquiry) promise(id history.Acquisition, slot history.Place, at int) promise {
	made := promisedNothing
	for _, ev := range h.Promotions() {
		if ev.Peer != slot.Node || ev.Seq > at {
			continue
		}
		if _, prolonged := h.toldToKeep(id, slot, at); prolonged {
			made = promisedInVain
		}
		slot.Node = ev.Process
	}
	if stands, _ := h.toldToKeep(id, slot, at); stands {
		made = promiseKept
	}
	return made
}

// toldToKeep says whether a node had been told, up to the event at, to keep an acquisition's
// key until after it, and not by the acquisition itself to drop it again; and whether the key
// had been prolonged for that.
func (h *inquiry) toldToKeep(id history.Acquisition, place history.Place, at int) (stands, prolonged bool) {
	now := h.Event(at).At
	for _, k := range h.HoldingsOf(id) {
		if k.Place != place || k.Set.Seq > at {
			continue
		}
		last := k.Set
		prolonged = false
		for _, touch := range k.Touches {
			if touch.Seq <= at {
				last, prolonged = touch, true
			}
		}
		dropped := k.How == history.Removed && k.Ended.Seq <= at && history.AcquisitionOf(k.Ended.By) == id
		stands = !dropped && (last.TTL == 0 || now < last.At+last.TTL)
	}
	return stands, stands && prolonged
}
